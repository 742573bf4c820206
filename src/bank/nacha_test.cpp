#include <pawl/bank_file.hpp>

#include "src/bank/nacha_record.hpp"
#include "src/bank/testing_golden.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <stdexcept>

namespace pawl::bank::nacha_test {

namespace {

using namespace std::chrono_literals;

Nacha head() {
    return {
        .destination = "091000019",
        .origin = "1234567890",
        .destination_name = "Wells Fargo",
        .origin_name = "Rocket Rides",
        .company_name = "Rocket Rides",
        .company_id = "1234567890",
        .description = "PAYOUT",
        .created_at = TimePoint{1'796'000'000'123ms},
        .effective_date = "2026-11-30",
        .file_id_modifier = 'B',
        .batch_number = 42,
        .reference_code = "00000042"};
}
std::vector<AchCredit> two_credits() {
    return {
        {.individual_id = "P1",
         .name = "Jane O'Hara",
         .routing_number = "021000021",
         .account_number = "123456789",
         .cents = 12345},
        {.individual_id = "P2",
         .name = "Joe",
         .routing_number = "011401533",
         .account_number = "98765432109876543",
         .account = AchCredit::Account::savings,
         .cents = 5}};
}
std::vector<std::string> lines_of(const std::string& bytes) {
    std::vector<std::string> lines;
    std::istringstream in{bytes};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(Nacha, the_bytes_are_those_of_the_golden_file) {
    EXPECT_EQ(write_nacha(head(), two_credits()), golden_file("nacha.ach"));
}

// The positions of the NACHA Operating Rules.
TEST(Nacha, each_field_has_its_place) {
    const auto lines = lines_of(write_nacha(head(), two_credits()));

    ASSERT_EQ(lines.size(), 10U);
    for (const auto& line : lines) EXPECT_EQ(line.size(), 94U);
    EXPECT_EQ(field(lines[0], 1, 13), "101 091000019");
    EXPECT_EQ(field(lines[0], 14, 23), "1234567890");
    EXPECT_EQ(field(lines[0], 24, 34), "2611300053B");
    EXPECT_EQ(field(lines[0], 35, 40), "094101");
    EXPECT_EQ(trimmed(lines[0], 41, 63), "Wells Fargo");
    EXPECT_EQ(field(lines[0], 87, 94), "00000042");
    EXPECT_EQ(field(lines[1], 1, 4), "5220");
    EXPECT_EQ(field(lines[1], 51, 53), "PPD");
    EXPECT_EQ(field(lines[1], 70, 75), "261130");
    EXPECT_EQ(field(lines[1], 79, 94), "1091000010000042");
    EXPECT_EQ(field(lines[2], 1, 12), "622021000021");
    EXPECT_EQ(number_at(lines[2], 30, 39), 12345);
    EXPECT_EQ(field(lines[2], 79, 94), "0091000010000001");
    EXPECT_EQ(field(lines[3], 2, 3), "32");
    EXPECT_EQ(field(lines[3], 13, 29), "98765432109876543");
    EXPECT_EQ(field(lines[4], 1, 4), "8220");
    EXPECT_EQ(number_at(lines[4], 5, 10), 2);
    EXPECT_EQ(number_at(lines[4], 11, 20), 2100002 + 1140153);
    EXPECT_EQ(number_at(lines[4], 21, 32), 0);
    EXPECT_EQ(number_at(lines[4], 33, 44), 12350);
    EXPECT_EQ(field(lines[5], 1, 13), "9000001000001");
    EXPECT_EQ(lines[6], std::string(94, '9'));
}

TEST(Nacha, the_entry_hash_has_the_last_ten_digits_of_the_sum) {
    std::vector<AchCredit> many(
        500,
        {.individual_id = "P",
         .name = "N",
         .routing_number = "325272021",
         .account_number = "1",
         .cents = 1}
    );
    const auto lines = lines_of(write_nacha(head(), many));
    // 500 times 32,527,202 is 16,263,601,000.
    EXPECT_EQ(field(lines[502], 11, 20), "6263601000");
    EXPECT_EQ(lines.size() % 10, 0U);
    EXPECT_EQ(number_at(lines[503], 8, 13), 51);
}

struct BadValue {
    std::string field;
    std::function<void(Nacha&, std::vector<AchCredit>&)> change;
};

TEST(Nacha, a_value_that_breaks_a_rule_is_refused_by_name) {
    const std::vector<BadValue> values{
        {"destination", [](auto& file, auto&) { file.destination = "091000018"; }},
        {"origin", [](auto& file, auto&) { file.origin = ""; }},
        {"company_name", [](auto& file, auto&) { file.company_name = std::string(17, 'x'); }},
        {"company_name", [](auto& file, auto&) { file.company_name = "Söhne"; }},
        {"effective_date", [](auto& file, auto&) { file.effective_date = "20261130"; }},
        {"file_id_modifier", [](auto& file, auto&) { file.file_id_modifier = 'a'; }},
        {"batch_number", [](auto& file, auto&) { file.batch_number = 10'000'000; }},
        {"individual_id", [](auto&, auto& all) { all[0].individual_id = std::string(16, 'x'); }},
        {"name", [](auto&, auto& all) { all[0].name = "line\nbreak"; }},
        {"routing_number", [](auto&, auto& all) { all[1].routing_number = "1"; }},
        {"account_number", [](auto&, auto& all) { all[1].account_number = std::string(18, '1'); }},
        {"cents", [](auto&, auto& all) { all[1].cents = 10'000'000'000; }},
        {"the file", [](auto&, auto& all) { all.clear(); }}};
    for (const auto& value : values) {
        auto file = head();
        auto credits = two_credits();
        value.change(file, credits);
        try {
            (void)write_nacha(file, credits);
            ADD_FAILURE() << value.field;
        } catch (const std::invalid_argument& error) {
            EXPECT_TRUE(std::string_view{error.what()}.starts_with(value.field)) << error.what();
        }
    }
}

// Two entries: P1 came back as R03 (no account), P2 as R01 (insufficient funds).
Report returns() {
    return std::get<Report>(read_nacha_returns(golden_file("nacha_returns.ach")));
}

TEST(NachaReturns, the_reason_and_the_individual_id_are_read) {
    const auto report = returns();
    EXPECT_EQ(report.sender, "091000019");
    EXPECT_EQ(report.message_id, "2612010930A");
    ASSERT_EQ(report.numbers.size(), 1U);
    EXPECT_EQ(report.numbers[0].series, "091000019 261201");
    EXPECT_EQ(report.numbers[0].number, 1);
    ASSERT_EQ(report.lines.size(), 2U);
    EXPECT_EQ(report.lines[0].what, ReportLine::What::returned);
    EXPECT_EQ(report.lines[0].key, "ref:021000020000001:091000010000001:P1");
    EXPECT_EQ(report.lines[0].end_to_end_id, "P1");
    EXPECT_EQ(report.lines[0].amount, 12345);
    EXPECT_EQ(report.lines[0].currency, "USD");
    EXPECT_EQ(report.lines[0].reason, "R03");
    EXPECT_EQ(report.lines[1].reason, "R01");
}

struct BadReturns {
    std::string what;
    std::string with;
    std::string rule;
};

TEST(NachaReturns, a_file_with_one_wrong_number_is_refused_with_its_rule) {
    const std::vector<BadReturns> files{
        {"0000012345P1", "0000012346P1", "batch control 5-44"},
        {"6210210000", "6210210001", "batch control 5-44"},
        {"82200000040003240155", "82200000050003240155", "batch control 5-44"},
        {"9000001000001", "9000002000001", "file control 2-7"},
        {"9000001000001", "9000001000002", "file control 8-13"},
        {"900000100000100000004", "900000100000100000005", "file control 14-55"},
        {"799R03", "599R03", "order of records"},
        {"621021000021", "620021000021", "entry 2-11"},
        {"A094101", "?094101", "file header 34"},
        {"101 1", "101 11", "file header 35-40"},
        {"799R03", "799R03x", "record of 94"},
        {"9999999999", "9999999998", "filler"}};
    for (const auto& file : files) {
        const auto read =
            read_nacha_returns(replaced(golden_file("nacha_returns.ach"), file.what, file.with));
        const auto* wrong = std::get_if<ReportProblem>(&read);
        ASSERT_NE(wrong, nullptr) << file.rule;
        EXPECT_NE(wrong->rule.find(file.rule), std::string::npos) << wrong->rule << wrong->found;
    }
}

TEST(NachaReturns, a_file_that_ends_before_its_control_record_is_refused) {
    const auto whole = golden_file("nacha_returns.ach");
    for (std::size_t lines = 0; lines < 8; ++lines) {
        const auto read = read_nacha_returns(std::string_view{whole}.substr(0, lines * 95));
        EXPECT_TRUE(std::holds_alternative<ReportProblem>(read)) << lines;
    }
}

TEST(NachaReturns, an_id_that_no_payment_has_is_set_aside) {
    auto bytes = golden_file("nacha_returns.ach");
    const auto entry = bytes.find("\n6") + 1;
    for (const char bad : {'\0', '\xe9', '\x1b'}) {
        bytes[entry + 40] = bad;  // In the individual id.
        const auto read = read_nacha_returns(bytes);
        const auto& report = std::get<Report>(read);
        EXPECT_EQ(report.lines.size(), 1U);
        ASSERT_EQ(report.set_aside.size(), 1U);
        EXPECT_EQ(report.set_aside[0].rule, "NACHA entry 40-54, individual id");
    }
}

}  // namespace

}  // namespace pawl::bank::nacha_test
