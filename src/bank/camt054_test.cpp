#include <pawl/bank_file.hpp>

#include "src/bank/testing_golden.hpp"

#include <gtest/gtest.h>

namespace pawl::bank {

namespace {

using What = ReportLine::What;

Report golden() {
    return std::get<Report>(read_camt054(golden_file("camt054.xml")));
}

std::string rule_of(const std::string& bytes) {
    const auto read = read_camt054(bytes);
    const auto* wrong = std::get_if<ReportProblem>(&read);
    return wrong == nullptr ? "none" : wrong->rule + ": " + wrong->found;
}

TEST(Camt054, payments_and_returns_are_read) {
    const auto report = golden();

    EXPECT_EQ(report.sender, "DE89370400440532013000");
    EXPECT_EQ(report.message_id, "BANK-2026-12-01-7");
    ASSERT_EQ(report.numbers.size(), 1U);
    EXPECT_EQ(report.numbers[0].series, report.sender);
    EXPECT_EQ(report.numbers[0].number, 7);
    ASSERT_EQ(report.lines.size(), 4U);
    EXPECT_EQ(report.lines[0].what, What::paid);
    EXPECT_EQ(report.lines[0].key, "ref:T1:P1:paid");
    EXPECT_EQ(report.lines[0].amount, 12345);
    EXPECT_EQ(report.lines[2].end_to_end_id, "P3");
    EXPECT_EQ(report.lines[2].key, "ref:E2:P3:paid");  // The entry's: it has one payment.
    EXPECT_EQ(report.lines[2].amount, 2);
    EXPECT_EQ(report.lines[3].what, What::returned);
    EXPECT_EQ(report.lines[3].reason, "AC04");
    EXPECT_EQ(report.lines[3].currency, "EUR");
}

TEST(Camt054, a_line_without_a_reference_has_a_key_of_its_hash_and_ordinal) {
    const auto key = golden().lines[1].key;
    EXPECT_TRUE(key.starts_with("hash:")) << key;
    EXPECT_TRUE(key.ends_with(":1")) << key;
    EXPECT_EQ(golden().lines[1].key, key);
}

TEST(Camt054, two_equal_lines_of_a_file_have_different_keys) {
    const std::string line{
        R"(<TxDtls><Refs><EndToEndId>P2</EndToEndId></Refs><Amt Ccy="EUR">0.03</Amt></TxDtls>)"};
    auto bytes = replaced(golden_file("camt054.xml"), line, line + line);
    bytes = replaced(bytes, "<NbOfTxs>2<", "<NbOfTxs>3<");
    bytes = replaced(bytes, R"(TtlAmt Ccy="EUR">123.48)", R"(TtlAmt Ccy="EUR">123.51)");
    bytes = replaced(bytes, R"(<Amt Ccy="EUR">123.48)", R"(<Amt Ccy="EUR">123.51)");
    bytes = replaced(bytes, "<Sum>246.97", "<Sum>247.00");
    bytes = replaced(bytes, "<Amt>0.03", "<Amt>0.06");
    bytes = replaced(bytes, "<Sum>123.50", "<Sum>123.53");

    const auto report = std::get<Report>(read_camt054(bytes));

    ASSERT_EQ(report.lines.size(), 5U);
    EXPECT_EQ(report.lines[1].key, golden().lines[1].key);
    EXPECT_TRUE(report.lines[2].key.ends_with(":2")) << report.lines[2].key;
}

struct Wrong {
    std::string what;
    std::string with;
    std::string rule;
};

TEST(Camt054, a_file_that_breaks_one_rule_is_refused_by_it) {
    const std::vector<Wrong> files{
        {"<Sum>246.97", "<Sum>246.98", "camt.054 TtlNtries/Sum"},
        {"<NbOfNtries>3", "<NbOfNtries>4", "camt.054 TtlNtries/NbOfNtries"},
        {"<Sum>123.47", "<Sum>123.46", "camt.054 TtlCdtNtries/Sum"},
        {"<Sum>123.50", "<Sum>123,50", "camt.054 TtlDbtNtries/Sum"},
        {"<Amt>0.03", "<Amt>0.04", "camt.054 TtlNtries/TtlNetNtry/Amt"},
        {"<CdtDbtInd>DBIT</CdtDbtInd></TtlNetNtry>",
         "<CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry>",
         "camt.054 TtlNtries/TtlNetNtry/CdtDbtInd"},
        {R"(<Amt Ccy="EUR">0.02)", R"(<Amt Ccy="EUR">99999999999999.00)", "camt.054 Ntry/Amt"},
        {R"(<Amt Ccy="EUR">0.02)", "<Amt>0.02", "camt.054 Ntry/Amt"},
        {"<MsgId>BANK-2026-12-01-7</MsgId>", "", "camt.054 GrpHdr/MsgId"},
        {"<IBAN>DE89370400440532013000</IBAN>", "", "camt.054 Ntfctn/Acct/Id"},
        {"camt.054.001.08", "camt.054.001.15", "camt.054 namespace"},
        {"</Document>", "", "camt.054 XML"},
        {"<Document", "<!DOCTYPE Document><Document", "camt.054 XML: it has a DOCTYPE"}};
    for (const auto& file : files) {
        const auto found = rule_of(replaced(golden_file("camt054.xml"), file.what, file.with));
        EXPECT_TRUE(found.starts_with(file.rule)) << file.rule << " / " << found;
    }
}

TEST(Camt054, every_cut_of_a_file_is_refused) {
    const auto whole = golden_file("camt054.xml");
    for (std::size_t size = 0; size + 2 < whole.size(); size += 7)
        EXPECT_NE(rule_of(whole.substr(0, size)), "none") << size;
}

TEST(Camt054, entities_and_dtds_are_never_followed) {
    const std::string body{
        R"(<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08">&a;</Document>)"};
    for (const auto* head :
         {R"(<!DOCTYPE Document [<!ENTITY a SYSTEM "file:///etc/passwd">]>)",
          R"(<!DOCTYPE Document [<!ENTITY b "bb"><!ENTITY a "&b;&b;&b;&b;&b;&b;&b;&b;">]>)",
          R"(<!DOCTYPE Document SYSTEM "http://127.0.0.1:1/x.dtd">)"})
        EXPECT_TRUE(rule_of(head + body).starts_with("camt.054 XML: it has a DOCTYPE")) << head;
    EXPECT_TRUE(rule_of(body).starts_with("camt.054 XML")) << rule_of(body);
}

// 10^11 comments, if they are expanded.
std::string nested_parameter_entities() {
    std::string subset{R"(<!ENTITY % a "<!-- x -->">)"};
    for (char name = 'b'; name <= 'l'; ++name) {
        subset += std::string{"<!ENTITY % "} + name + " \"";
        for (int i = 0; i < 10; ++i)
            subset += std::string{"&#37;"} + static_cast<char>(name - 1) + ';';
        subset += "\">";
    }
    return "<!DOCTYPE Document [" + subset + "%l;]><Document/>";
}

std::string utf16(const std::string& ascii) {
    std::string bytes{"\xff\xfe"};
    for (const char c : ascii) bytes += {c, '\0'};
    return bytes;
}

TEST(Camt054, a_doctype_is_refused_before_its_entities_are_expanded) {
    const auto bytes = nested_parameter_entities();
    EXPECT_EQ(rule_of(bytes), "camt.054 XML: it has a DOCTYPE");
    EXPECT_EQ(rule_of(utf16(bytes)), "camt.054 XML: it has a DOCTYPE");
}

TEST(Camt054, a_file_has_any_number_of_entries_but_no_part_is_without_a_limit) {
    const std::string details{"</TxDtls>"};
    std::string many;
    for (int i = 0; i < 10'001; ++i) many += "<a/>";
    const auto wrong = rule_of(replaced(golden_file("camt054.xml"), details, many + details));
    EXPECT_EQ(wrong, "camt.054 XML: one part has more than 10,000 elements");
    const std::string attribute{R"( a=">'")"};
    std::string attributes;
    for (int i = 0; i < 1'000; ++i) attributes += attribute;
    for (const auto* before : {"", "<!-- \" > -->", "<?p \" > ?>", "<d><![CDATA[\" > ]]>"})
        EXPECT_EQ(
            rule_of(before + std::string{"<d"} + attributes + "/>"),
            "camt.054 XML: a tag has more than 4,096 characters"
        ) << before;
    EXPECT_EQ(
        rule_of(R"(<?xml version="1.0" encoding="UTF-7"?><d/>)"),
        "camt.054 XML: the encoding is UTF-7: UTF-8, UTF-16 or one of 8 bits"
    );
    EXPECT_EQ(
        rule_of(R"(<?xml version="1.0" encoding="UTF-16LE")" + utf16("?><d/>").substr(2)),
        "camt.054 XML: its XML declaration is wrong"
    );
    for (const auto* name : {"UTF-8//IGNORE", "ISO-8859-1//TRANSLIT", "UTF-7", "CP037", "ucs-4"})
        for (const auto* quote : {"'", "\""})
            EXPECT_EQ(
                rule_of(
                    std::string{"<?xml  version = '1.0'\tencoding ="} + quote + name + quote +
                    " standalone='yes' ?><d/>"
                ),
                "camt.054 XML: the encoding is " + std::string{name} +
                    ": UTF-8, UTF-16 or one of 8 bits"
            );
    for (const auto* odd :
         {"encoding='UTF-8//IGNORE'",
          "version='1.0'encoding='UTF-8//IGNORE'",
          "version='1.0 encoding=\"utf-8\"' standalone='yes' encoding='UTF-8//IGNORE'",
          "version='1.0' encoding='utf-8' encoding='UTF-8//IGNORE'",
          "version='1.0' encoding=utf-8",
          "version='1.0' encoding"})
        EXPECT_EQ(
            rule_of("<?xml " + std::string{odd} + "?><d/>"),
            "camt.054 XML: its XML declaration is wrong"
        ) << odd;
    EXPECT_EQ(
        rule_of("<" + std::string(65, 'a') + "/>"), "camt.054 XML: a name has more than 64 bytes"
    );

    const std::string entry{
        R"(<Ntry><Amt Ccy="EUR">0.01</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>)"
        R"(<NtryDtls><TxDtls><Refs><EndToEndId>P</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>)"};
    std::string entries;
    for (int i = 0; i < 20'000; ++i) entries += entry;
    const auto report = read_camt054(
        R"(<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08">)"
        "<BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>M</MsgId></GrpHdr><Ntfctn><ElctrncSeqNb>1"
        "</ElctrncSeqNb><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>" +
        entries + "</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>"
    );
    EXPECT_EQ(std::get<Report>(report).lines.size(), 20'000U);
}

// After such an error libxml2 goes on: it passes texts of elements whose begin it has not passed.
TEST(Camt054, a_file_whose_declaration_is_wrong_is_refused_and_crashes_nothing) {
    const auto file = golden_file("camt054.xml");
    const auto body = file.substr(file.find("?>") + 2);
    const std::string right{R"(<?xml version="1.0" encoding="UTF-8"?>)"};
    for (const auto& wrong :
         {"\n" + right,
          " " + right,
          right + right,
          std::string{"<?xml?>"},
          std::string{R"(<?xml version="9.9"?>)"},
          std::string{R"(<?xml version="1.0" encoding="UTF-8 "?>)"},
          std::string{R"(<?xml version="1.0" encoding=""?>)"},
          std::string{"\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-16\"?>"},
          std::string{R"(<?xml version="1.0" encoding="UTF-16"?>)"},
          right + "text",
          right + "&amp;",
          right + "<![CDATA[a]]>",
          right + "\x01"}) {
        const auto rule = rule_of(wrong + body);
        EXPECT_TRUE(rule.starts_with("camt.054 XML: ")) << wrong << ": " << rule;
    }
}

TEST(Camt054, a_deep_file_is_refused) {
    std::string deep;
    for (int i = 0; i < 5'000; ++i) deep += "<a>";
    EXPECT_EQ(rule_of(deep), "camt.054 XML: it is nested too deeply");
}

std::vector<ReportNumber> numbers_of(const std::string& bytes) {
    const auto read = read_camt054(bytes);
    return std::get<ReportProblem>(read).numbers;
}

// Issue 38, number 5: one wrong report stopped all later ones of its series.
TEST(Camt054, a_report_that_is_wrong_has_its_number_as_far_as_it_can_be_read) {
    const auto good = golden_file("camt054.xml");
    const auto entry = R"(<Amt Ccy="EUR">0.02)";
    const auto cut = numbers_of(replaced(good, entry, "<Amt>0.02"));
    ASSERT_EQ(cut.size(), 1U);
    EXPECT_EQ(cut[0].series, "DE89370400440532013000");
    EXPECT_EQ(cut[0].number, 7);
    EXPECT_EQ(numbers_of(replaced(good, "<Sum>246.97", "<Sum>246.98")).size(), 1U);
    EXPECT_EQ(numbers_of(replaced(good, "camt.054.001.08", "camt.054.001.15")).size(), 1U);
    EXPECT_TRUE(numbers_of(good.substr(0, good.size() / 2)).empty());
}

TEST(Camt054, a_value_that_a_database_may_refuse_is_set_aside_or_stops_the_report) {
    const auto good = golden_file("camt054.xml");
    for (const auto& id : {std::string(3'000, 'x'), std::string{"P\xc2\x85"}}) {
        const auto read = read_camt054(replaced(good, "<EndToEndId>P2", "<EndToEndId>" + id));
        const auto& report = std::get<Report>(read);
        EXPECT_EQ(report.lines.size(), 3U);
        ASSERT_EQ(report.set_aside.size(), 1U);
        EXPECT_TRUE(report.set_aside[0].rule.starts_with("values of at most 200 bytes"));
    }
    const auto account = rule_of(replaced(good, "<IBAN>DE", "<IBAN>DE\xc2\x85"));
    EXPECT_TRUE(account.starts_with("values of at most 200 bytes")) << account;
    const auto long_count = std::get<Report>(
        read_camt054(replaced(good, "<NbOfTxs>2", "<NbOfTxs>" + std::string(9'000, '9')))
    );
    EXPECT_LT(long_count.set_aside.at(0).found.size(), 600U);
}

}  // namespace

}  // namespace pawl::bank
