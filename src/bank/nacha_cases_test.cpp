// Issue 39, numbers 3 and 4: each row is a file and what it means. The names with numbers are those
// of public cases. Each member of nacha_members has a row with a value that is not handled.

#include <pawl/bank_file.hpp>

#include "src/bank/nacha_record.hpp"
#include "src/bank/testing_nacha.hpp"
#include "src/bank/testing_report_members.hpp"
#include "src/bank/testing_reports.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pawl::bank::nacha_cases_test {

namespace {

struct Case {
    std::string name;
    std::string bytes;
    std::string expected;
};

const NachaEntry p1{.id = "P1"};
const std::string back = "returned P1 1250 USD R03";

std::string file(std::vector<NachaEntry> entries, const std::string& sec_code = "PPD") {
    return joined(nacha_records({{sec_code, std::move(entries)}}));
}
// One good return, and this beside it: the rest goes on.
std::string beside(NachaEntry other, const std::string& sec_code = "PPD") {
    return joined(nacha_records({{"PPD", {p1}}, {sec_code, {std::move(other)}}}));
}
const std::string aside = back + "; aside NACHA ";

std::vector<Case> cases() {
    const auto change = NachaEntry{.id = "P2", .cents = 0, .addenda = {{"98", "C01"}}};
    return {
        {"01_plain", file({p1}), back},
        {"12_noc98_alone", file({change}, "COR"), "aside NACHA addenda 2-3, type 98"},
        {"13_return_and_noc_batches", beside(change, "COR"), aside + "addenda 2-3, type 98"},
        {"14_addenda05_then_99",
         file({{.id = "P1", .addenda = {{"05", ""}, {"99", "R03"}}}}, "CCD"),
         back},
        {"15_dishonored_R61",
         beside({.id = "P2", .addenda = {{"99", "R61"}}}),
         aside + "addenda 4-6, return reason"},
        {"a contest of that",
         beside({.id = "P2", .addenda = {{"99", "R73"}}}),
         aside + "addenda 4-6, return reason"},
        {"no reason",
         beside({.id = "P2", .addenda = {{"99", "   "}}}),
         aside + "addenda 4-6, return reason"},
        {"two reasons",
         beside({.id = "P2", .addenda = {{"99", "R01"}, {"99", "R02"}}}),
         aside + "addenda 4-6, return reason"},
        {"16_prenote_return_zero", beside({.id = "P2", .cents = 0}), aside + "entry 30-39, amount"},
        {"17_individual_right_justified", file({{.id = "             P1"}}), back},
        {"20_empty_file_no_batches", joined(nacha_records({})), ""},
        {"21_gl_offset_debit",
         beside({.id = "P2", .code = "26"}),
         aside + "entry 2-3, transaction code of a returned credit"},
        {"a payment, and no return",
         beside({.id = "P2", .code = "22"}),
         aside + "entry 2-3, transaction code of a returned credit"},
        {"no return by its addenda",
         beside({.id = "P2", .addenda = {}}),
         aside + "addenda 2-3, type 99"},
        {"an international entry",
         beside({.id = "P2"}, "IAT"),
         aside + "batch header 51-53, entry class"},
        {"a reversal that came back",
         joined(nacha_records({{"PPD", {p1}}, {"PPD", {{.id = "P2"}}, "REVERSAL"}})),
         aside + "batch header 54-63, description"},
        {"no id", beside({.id = ""}), aside + "entry 40-54, individual id"},
        {"an id of Latin-1", beside({.id = "P\xe9"}), aside + "entry 40-54, individual id"},
        {"25_two_files_concatenated",
         file({p1}) + joined(nacha_records({{"PPD", {{.id = "P2"}}}}, 'B')),
         back + "; returned P2 1250 USD R03"},
        {"27_negative_like",
         replaced(file({p1}), "0000001250P1", "000000125AP1"),
         "refused NACHA entry 2-11 and 30-39"},
        {"no modifier",
         joined(nacha_records({}, '?')),
         "refused NACHA file header 34, file ID modifier"}};
}

TEST(NachaCases, each_file_has_the_effect_that_the_standard_gives_it) {
    for (const auto& one : cases())
        EXPECT_EQ(effects(read_nacha_returns(one.bytes)), one.expected) << one.name;
}

TEST(NachaCases, each_member_has_a_row) {
    const auto rows = cases();
    for (const auto& member : nacha_members)
        EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const Case& row) {
            return row.expected.ends_with("NACHA " + std::string{member.name});
        })) << member.name;
}

TEST(NachaCases, letters_and_digits_of_a_day_are_counted_apart) {
    const auto number = [](char modifier) {
        const auto read = read_nacha_returns(joined(nacha_records({}, modifier)));
        return std::get<Report>(read).numbers.at(0);
    };
    EXPECT_EQ(number('A').series, "091000019 261201");
    EXPECT_EQ(number('a').number, 1);
    EXPECT_EQ(number('Z').number, 26);
    EXPECT_EQ(number('1').series, "091000019 261201 0-9");
    EXPECT_EQ(number('1').number, 1);
    EXPECT_EQ(number('1').first, 1);
    EXPECT_EQ(number('0').first, 0);
    EXPECT_EQ(number('7').first, 1);
}

TEST(NachaCases, each_file_of_several_keeps_its_number_and_its_control_record) {
    const auto first = file({p1});
    const auto second = joined(nacha_records({{"PPD", {{.id = "P2"}}}}, 'B'));
    const auto report = std::get<Report>(read_nacha_returns(first + second));
    ASSERT_EQ(report.numbers.size(), 2U);
    EXPECT_EQ(report.numbers[1].number, 2);
    EXPECT_EQ(report.message_id, "2612010930A+2612010930B");
    const auto cut = read_nacha_returns(first + second.substr(0, 95 * 4));
    EXPECT_EQ(effects(cut), "refused NACHA file control 9");
    EXPECT_EQ(std::get<ReportProblem>(cut).numbers.size(), 2U);
    const auto blocks =
        read_nacha_returns(replaced(first, "9000001000001", "9000001000002") + second);
    EXPECT_EQ(effects(blocks), "refused NACHA file control 8-13, block count");
    const auto other = replaced(second, " 091000019", " 021000021");
    EXPECT_EQ(
        effects(read_nacha_returns(first + other)), back + "; returned P2 1250 USD R03 of 021000021"
    );
}

}  // namespace

}  // namespace pawl::bank::nacha_cases_test
