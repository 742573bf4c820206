#include <pawl/bank_file.hpp>

#include "src/bank/testing_golden.hpp"
#include "src/bank/xml_reader.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace pawl::bank::pain001_test {

namespace {

using namespace std::chrono_literals;

Pain001 head() {
    return {
        .message_id = "PAYOUTS-00000042",
        .created_at = TimePoint{1'796'000'000'123ms},
        .execution_date = "2026-11-30",
        .debtor_name = "Rocket Rides & Söhne <GmbH>",
        .debtor_account = "DE89370400440532013000",
        .debtor_bic = "COBADEFFXXX",
        .currency = "EUR",
        .characters = CharacterSet::xml};
}
std::vector<CreditTransfer> two_transfers() {
    return {
        {.end_to_end_id = "P1",
         .amount = 12345,
         .creditor_name = "Jane \"J\" O'Hara",
         .creditor_account = "GB29NWBK60161331926819",
         .remittance = "October & November"},
        {.end_to_end_id = "P2",
         .amount = 5,
         .creditor_name = "Joe",
         .creditor_account = "NO9386011117947"}};
}

TEST(Pain001, the_bytes_are_those_of_the_golden_file) {
    EXPECT_EQ(write_pain001(head(), two_transfers()), golden_file("pain001.xml"));
}

TEST(Pain001, an_xml_reader_finds_the_same_values) {
    const auto read = read_xml(write_pain001(head(), two_transfers()));
    const auto& document = std::get<XmlDocument>(read).root;

    const auto* group = document.find("CstmrCdtTrfInitn/GrpHdr");
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->text_at("NbOfTxs"), "2");
    EXPECT_EQ(group->text_at("CtrlSum"), "123.50");
    EXPECT_EQ(group->text_at("InitgPty/Nm"), head().debtor_name);
    const auto transfers = document.find("CstmrCdtTrfInitn/PmtInf")->all("CdtTrfTxInf");
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(transfers[0]->text_at("Cdtr/Nm"), "Jane \"J\" O'Hara");
    EXPECT_EQ(transfers[0]->find("Amt/InstdAmt")->currency, "EUR");
    EXPECT_EQ(transfers[1]->text_at("Amt/InstdAmt"), "0.05");
}

TEST(Pain001, without_a_bic_the_agent_is_not_provided) {
    auto file = head();
    file.debtor_bic.clear();
    const auto bytes = write_pain001(file, two_transfers());
    EXPECT_NE(bytes.find("<FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId>"), bytes.npos);
}

struct BadValue {
    std::string field;
    std::function<void(Pain001&, std::vector<CreditTransfer>&)> change;
};

TEST(Pain001, a_value_that_breaks_a_rule_is_refused_by_name) {
    const std::vector<BadValue> values{
        {"message_id", [](auto& file, auto&) { file.message_id = std::string(36, 'x'); }},
        {"message_id", [](auto& file, auto&) { file.message_id = ""; }},
        {"execution_date", [](auto& file, auto&) { file.execution_date = "2026-02-30"; }},
        {"debtor_name", [](auto& file, auto&) { file.debtor_name = "a\x01z"; }},
        {"debtor_name", [](auto& file, auto&) { file.debtor_name = "\xff"; }},
        {"debtor_account", [](auto& file, auto&) { file.debtor_account[3] = '0'; }},
        {"debtor_name", [](auto& file, auto&) { file.debtor_name = "a\xc2\x85z"; }},
        {"debtor_bic", [](auto& file, auto&) { file.debtor_bic = "COBA"; }},
        {"debtor_bic", [](auto& file, auto&) { file.debtor_bic = "COBA1EFF"; }},
        {"currency", [](auto& file, auto&) { file.currency = "eur"; }},
        {"end_to_end_id", [](auto&, auto& all) { all[1].end_to_end_id = std::string(36, 'x'); }},
        {"amount", [](auto&, auto& all) { all[0].amount = 0; }},
        {"the sum", [](auto&, auto& all) { all[0].amount = 999'999'999'999'999; }},
        {"creditor_name", [](auto&, auto& all) { all[0].creditor_name = std::string(141, 'x'); }},
        {"creditor_name", [](auto&, auto& all) { all[0].creditor_name = "Jane \uffff Doe"; }},
        {"creditor_name", [](auto&, auto& all) { all[0].creditor_name = "Jane \ufdd0 Doe"; }},
        {"creditor_name", [](auto&, auto& all) { all[1].creditor_name = std::string(1, '\0'); }},
        {"creditor_account", [](auto&, auto& all) { all[0].creditor_account = "DE00"; }},
        {"remittance", [](auto&, auto& all) { all[0].remittance = " x"; }},
        {"the file", [](auto&, auto& all) { all.clear(); }}};
    for (const auto& value : values) {
        auto file = head();
        auto transfers = two_transfers();
        value.change(file, transfers);
        try {
            (void)write_pain001(file, transfers);
            ADD_FAILURE() << value.field;
        } catch (const std::invalid_argument& error) {
            EXPECT_TRUE(std::string_view{error.what()}.starts_with(value.field)) << error.what();
        }
    }
}

TEST(Pain001, without_another_set_only_the_characters_of_epc217_08_are_written) {
    Pain001 file = head();
    file.characters = Pain001{}.characters;
    file.debtor_name = "Rocket Rides";
    auto transfers = two_transfers();
    transfers[0].creditor_name = "Jane O'Hara (1/2), a-b: c+d. e?";
    transfers[0].remittance = "";
    EXPECT_NO_THROW((void)write_pain001(file, transfers));
    for (const auto* bad : {"Jos\u00e9", "a & b", "a;b", "a_b", "a\"b", "a@b", "a*b"}) {
        transfers[1].creditor_name = bad;
        EXPECT_THROW((void)write_pain001(file, transfers), std::invalid_argument) << bad;
    }
}

TEST(Pain001, an_id_of_epc217_08_has_its_slashes_in_between) {
    Pain001 file = head();
    file.characters = CharacterSet::epc217;
    file.debtor_name = "Rocket Rides";
    auto transfers = two_transfers();
    transfers[0].creditor_name = transfers[0].remittance = "Jane";
    for (const auto* bad : {"/a", "a/", "a//b"}) {
        transfers[0].end_to_end_id = bad;
        EXPECT_THROW((void)write_pain001(file, transfers), std::invalid_argument) << bad;
    }
    transfers[0].end_to_end_id = "a/b";
    EXPECT_NO_THROW((void)write_pain001(file, transfers));
}

TEST(Pain001, a_name_may_have_140_characters_of_any_script) {
    auto transfers = two_transfers();
    transfers[0].creditor_name.clear();
    for (int i = 0; i < 140; ++i) transfers[0].creditor_name += "é";
    EXPECT_NO_THROW((void)write_pain001(head(), transfers));
}

}  // namespace

}  // namespace pawl::bank::pain001_test
