// Issue 39, numbers 3 and 4: each row is a file and what it means. The names with numbers are those
// of public cases. Each member of camt054_members has a row with a value that is not handled.

#include <pawl/bank_file.hpp>

#include "src/bank/testing_golden.hpp"
#include "src/bank/testing_report_members.hpp"
#include "src/bank/testing_reports.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pawl::bank::camt054_cases_test {

namespace {

std::string amount(const std::string& value, const std::string& currency = "EUR") {
    return "<Amt Ccy=\"" + currency + "\">" + value + "</Amt>";
}
std::string details(const std::string& inner) {
    return "<TxDtls>" + inner + "</TxDtls>";
}
std::string refs(const std::string& id) {
    return "<Refs><AcctSvcrRef>T-" + id + "</AcctSvcrRef><EndToEndId>" + id +
           "</EndToEndId></Refs>";
}
std::string payment(
    const std::string& id, const std::string& value = "12.50", const std::string& more = {}
) {
    return details(refs(id) + amount(value) + more);
}
std::string returned(const std::string& reason = "<Cd>AC04</Cd>") {
    return "<RtrInf><Rsn>" + reason + "</Rsn></RtrInf>";
}
std::string charges(const std::string& value, const std::string& more = {}) {
    return "<Chrgs><Rcrd>" + amount(value) + more + "</Rcrd></Chrgs>";
}
const std::string booked = "<Sts><Cd>BOOK</Cd></Sts>";
const std::string debit = "<CdtDbtInd>DBIT</CdtDbtInd>";
const std::string credit = "<CdtDbtInd>CRDT</CdtDbtInd>";
const std::string reversed = "<RvslInd>true</RvslInd>";

// `head`: what stands before the payments, without the amount.
std::string entry(
    const std::string& payments,
    const std::string& head = debit + booked,
    const std::string& value = "12.50"
) {
    return "<Ntry>" + amount(value) + head + "<BookgDt><Dt>2026-11-27</Dt></BookgDt>" +
           "<AcctSvcrRef>E1</AcctSvcrRef>" +
           (payments.empty() ? "" : "<NtryDtls>" + payments + "</NtryDtls>") + "</Ntry>";
}
const std::string iban = "DE89370400440532013000";
std::string notification(
    const std::string& inner,
    const std::string& number = "<ElctrncSeqNb>1</ElctrncSeqNb>",
    const std::string& account = iban
) {
    return "<Ntfctn><Id>N1</Id>" + number + "<Acct><Id><IBAN>" + account + "</IBAN></Id></Acct>" +
           inner + "</Ntfctn>";
}
std::string document(
    const std::string& notifications,
    const std::string& version = "08",
    const std::string& header = {}
) {
    return "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.054.001." + version +
           "\"><BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>M1</MsgId>" + header + "</GrpHdr>" +
           notifications + "</BkToCstmrDbtCdtNtfctn></Document>";
}
std::string file(const std::string& entries) {
    return document(notification(entries));
}
std::string page(const std::string& name, const std::string& number, const std::string& last) {
    return "<" + name + "><PgNb>" + number + "</PgNb><LastPgInd>" + last + "</LastPgInd></" + name +
           ">";
}
// One good payment, and this beside it: the rest goes on.
std::string beside(const std::string& other) {
    return file(entry(payment("OK")) + other);
}
std::string batch(const std::string& of_batch) {
    return entry("<Btch>" + of_batch + "</Btch>" + payment("P1"));
}
std::string other_amount(const std::string& name, const std::string& value, const char* currency) {
    return "<AmtDtls><" + name + ">" + amount(value, currency) + "</" + name + "></AmtDtls>";
}
std::string code(const std::string& sub_family) {
    return "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>" + sub_family +
           "</SubFmlyCd></Fmly></Domn></BkTxCd>";
}

struct Case {
    std::string name;
    std::string bytes;
    std::string expected;
};

const std::string plain = file(entry(payment("P1")));
const std::string paid = "paid P1 1250 EUR";
const std::string ok = "paid OK 1250 EUR; aside camt.054 ";

std::vector<Case> public_cases() {
    const auto declared = [](const std::string& encoding, const std::string& text) {
        return "<?xml version=\"1.0\" encoding=\"" + encoding + "\"?>\n" + text;
    };
    const auto named = [](const std::string& id) { return file(entry(payment(id))); };
    const std::string more = charges("0.35", debit + "<ChrgInclInd>true</ChrgInclInd>");
    const auto in_details = [](const std::string& id) {
        return details(refs(id) + other_amount("TxAmt", "12.50", "EUR"));
    };
    return {
        {"01_plain", plain, paid},
        {"06_netted_entry",
         file(entry(payment("P1", "20.00", debit) + payment("P2", "7.50", credit + returned()))),
         "paid P1 2000 EUR; returned P2 750 EUR AC04"},
        {"07_charges_included", file(entry(payment("P1"), debit + booked + more, "12.85")), paid},
        {"08_amtdtls_only",
         file(entry(in_details("P1") + in_details("P2"), debit + booked, "25.00")),
         "paid P1 1250 EUR; paid P2 1250 EUR"},
        {"09_fee_entry_without_details", beside(entry("")), ok + "Ntry/NtryDtls/TxDtls"},
        {"10_batch_without_details",
         beside(entry("<Btch><PmtInfId>PAYOUTS-1</PmtInfId><NbOfTxs>2</NbOfTxs></Btch>")),
         ok + "Ntry/NtryDtls/TxDtls"},
        {"11_funding_credit",
         beside(entry(payment("NOTPROVIDED"), credit + booked)),
         ok + "Refs/EndToEndId"},
        {"12_whitespace_values",
         replaced(replaced(plain, ">12.50<", ">\n 12.50\n <"), ">P1<", "> P1   <"),
         paid},
        {"13_amount_plus", replaced(plain, ">12.50<", ">+12.50<"), paid},
        {"14_amount_no_leading_zero",
         file(entry(payment("P1", ".50"), debit + booked, ".50")),
         "paid P1 50 EUR"},
        {"16_utf8_bom", "\xef\xbb\xbf" + plain, paid},
        {"18_latin1",
         declared("ISO-8859-1", named("P1-M\xdcLLER")),
         "paid P1-M\xc3\x9cLLER 1250 EUR"},
        {"19_latin1_declared_utf8", declared("UTF-8", named("M\xdcLLER")), "refused camt.054 XML"},
        {"20_blank_line_before_decl", "\n" + declared("UTF-8", plain), "refused camt.054 XML"},
        {"21_win1252", declared("windows-1252", named("P1\x80")), "paid P1\xe2\x82\xac 1250 EUR"},
        {"22_two_accounts",
         document(
             notification(entry(payment("P1"))) +
             notification(
                 entry(payment("P2")), "<ElctrncSeqNb>4</ElctrncSeqNb>", "GB29NWBK60161331926819"
             )
         ),
         paid + "; paid P2 1250 EUR of GB29NWBK60161331926819"},
        {"23_no_entries", file(""), ""},
        {"24_no_seq",
         document(notification(entry(payment("P1")), "")),
         paid + "; no ElctrncSeqNb of " + iban},
        {"25_no_e2e", beside(entry(details(amount("12.50")))), ok + "Refs/EndToEndId"},
        {"26_v2",
         document(notification(entry(payment("P1"), debit + "<Sts>BOOK</Sts>")), "02"),
         paid},
        {"28_v11", document(notification(entry(payment("P1"))), "11"), paid},
        {"29_page1",
         document(notification(entry(payment("P1"))), "08", page("MsgPgntn", "1", "false")),
         paid},
        {"30_foreign_tx_currency",
         beside(entry(details(refs("P1") + amount("13.10", "USD")))),
         ok + "TxDtls/Amt/Ccy"},
        {"31_return_less_fee",
         beside(entry(
             payment(
                 "P1",
                 "10.00",
                 returned() + "<Chrgs><TtlChrgsAndTaxAmt>2.50</TtlChrgsAndTaxAmt></Chrgs>"
             ),
             credit + booked,
             "10.00"
         )),
         ok + "TxDtls/Chrgs"},
        {"32_sts_pending",
         beside(entry(payment("P1"), debit + "<Sts><Cd>PDNG</Cd></Sts>")),
         ok + "Ntry/Sts"},
        {"33_rtr_prtry_reason",
         file(entry(payment("P1", "12.50", returned("<Prtry>914</Prtry>")), credit + booked)),
         "returned P1 1250 EUR 914"},
        {"34_doctype", "<!DOCTYPE Document>" + plain, "refused camt.054 XML"},
        {"36_entity_amp_e2e", named("P&amp;1"), "paid P&1 1250 EUR"},
        {"43_jpy_decimals",
         file(replaced(
             replaced(entry(payment("P1")), amount("12.50"), amount("1200.00", "JPY")),
             amount("12.50"),
             amount("1200.00", "JPY")
         )),
         "paid P1 1200 JPY"}};
}

std::vector<Case> unhandled_values() {
    const auto back = [](const std::string& more = {}) {
        return payment("P1", "12.50", returned() + more);
    };
    return {
        {"a payment is reversed",
         beside(entry(payment("P1"), credit + reversed + booked)),
         ok + "Ntry/RvslInd"},
        {"a return is reversed",
         beside(entry(back(), debit + reversed + booked)),
         ok + "Ntry/RvslInd"},
        {"no boolean",
         beside(entry(back(), credit + "<RvslInd>J</RvslInd>" + booked)),
         ok + "Ntry/RvslInd"},
        {"a reversal that is a return",
         file(entry(back(), credit + "<RvslInd>1</RvslInd>" + booked)),
         "returned P1 1250 EUR AC04"},
        {"not reversed", file(entry(payment("P1"), debit + "<RvslInd>0</RvslInd>" + booked)), paid},
        {"for information",
         beside(entry(payment("P1"), debit + "<Sts>INFO</Sts>")),
         ok + "Ntry/Sts"},
        {"its own status",
         beside(entry(payment("P1"), debit + "<Sts><Prtry>BOOK</Prtry></Sts>")),
         ok + "Ntry/Sts"},
        {"no status", beside(entry(payment("P1"), debit)), ok + "Ntry/Sts"},
        {"no direction", beside(entry(payment("P1"), booked)), "refused camt.054 Ntry/CdtDbtInd"},
        {"a return as a debit", beside(entry(back())), ok + "TxDtls/RtrInf"},
        {"a credit", beside(entry(payment("P1"), credit + booked)), ok + "TxDtls/RtrInf"},
        {"a credit in a debit",
         beside(entry(payment("P1", "20.00") + payment("P2", "7.50", credit))),
         "paid OK 1250 EUR; paid P1 2000 EUR; aside camt.054 TxDtls/RtrInf"},
        {"another direction",
         beside(entry(payment("P1", "12.50", "<CdtDbtInd>X</CdtDbtInd>"))),
         ok + "TxDtls/CdtDbtInd"},
        {"a fee in the amount", beside(entry(payment("P1", "12.15"))), ok + "Ntry/Amt"},
        {"charges that do not explain it",
         beside(entry(payment("P1", "12.10"), debit + booked + charges("0.35"))),
         ok + "Ntry/Amt"},
        {"charges in the payment, perhaps",
         beside(entry(payment("P1"), debit + booked + charges("0.35"))),
         ok + "Ntry/Chrgs"},
        {"charges of version 2",
         file(
             entry(payment("P1"), debit + booked + "<Chrgs>" + amount("0.35") + "</Chrgs>", "12.85")
         ),
         paid},
        {"charges of the payment, beside it",
         file(entry(payment("P1", "12.50", charges("0.35")), debit + booked, "12.85")),
         paid},
        {"charges of a return, beside it",
         file(entry(back(charges("0.35")), credit + booked, "12.15")),
         "returned P1 1250 EUR AC04"},
        {"charges that are booked later",
         file(entry(payment("P1", "12.50", charges("0.35", "<ChrgInclInd>false</ChrgInclInd>")))),
         paid},
        {"instructed in another currency",
         beside(entry(payment("P1", "12.50", other_amount("InstdAmt", "13.10", "USD")))),
         ok + "TxDtls/AmtDtls"},
        {"instructed over another amount",
         beside(entry(payment("P1", "12.50", other_amount("InstdAmt", "12.85", "EUR")))),
         ok + "TxDtls/AmtDtls"},
        {"instructed over its amount",
         file(entry(payment("P1", "12.50", other_amount("InstdAmt", "12.5", "EUR")))),
         paid},
        {"an entry's other amount",
         beside(entry(payment("P1"), debit + booked + other_amount("TxAmt", "13.10", "USD"))),
         ok + "Ntry/AmtDtls"},
        {"no amount of two", beside(entry(payment("P1") + details(refs("P2")))), ok + "TxDtls/Amt"},
        {"nothing",
         beside(entry(payment("P1", "0.00"), debit + booked, "0.00")),
         ok + "TxDtls/Amt"},
        {"a part of a cent",
         beside(entry(payment("P1", "12.505"), debit + booked, "12.505")),
         ok + "TxDtls/Amt"},
        {"a batch of two", beside(batch("<NbOfTxs>2</NbOfTxs>")), ok + "Btch/NbOfTxs"},
        {"another total", beside(batch("<TtlAmt Ccy=\"EUR\">12.49</TtlAmt>")), ok + "Btch/TtlAmt"},
        {"another sign", beside(batch(credit)), ok + "Btch/CdtDbtInd"},
        {"a return by its code",
         beside(entry(payment("P1"), debit + booked + code("RRTN"))),
         ok + "BkTxCd/Domn/Fmly/SubFmlyCd"},
        {"a reversal by the payment's code",
         beside(entry(payment("P1", "12.50", code("RPCR")))),
         ok + "BkTxCd/Domn/Fmly/SubFmlyCd"},
        {"another copy",
         document(notification("<CpyDplctInd>X</CpyDplctInd>" + entry(payment("P1")))),
         "aside camt.054 Ntfctn/CpyDplctInd"},
        {"an account in another currency",
         replaced(beside(""), "</Id></Acct>", "</Id><Ccy>USD</Ccy></Acct>"),
         "aside camt.054 Ntry/Amt/Ccy"},
        {"an entry in another currency",
         beside(replaced(
             replaced(entry(payment("P1")), amount("12.50"), amount("12.50", "USD")),
             amount("12.50"),
             amount("12.50", "USD")
         )),
         ok + "Ntry/Amt/Ccy"},
        {"no page",
         document(notification(""), "08", page("MsgPgntn", "0", "true")),
         "refused camt.054 GrpHdr/MsgPgntn"},
        {"no page of a notification",
         document(notification(page("NtfctnPgntn", "1", "J"))),
         "refused camt.054 Ntfctn/NtfctnPgntn"},
        {"two messages", "<a>" + plain + plain + "</a>", "refused camt.054 GrpHdr"},
        {"no message",
         "<a>" + replaced(plain, "001.08", "001.15") + "</a>",
         "refused camt.054 namespace"},
        {"members of another namespace",
         file(entry(payment("P1", "12.50", "<x:RtrInf xmlns:x=\"urn:x\"/>"))),
         paid}};
}

TEST(Camt054Cases, each_file_has_the_effect_that_the_standard_gives_it) {
    for (const auto& one : public_cases())
        EXPECT_EQ(effects(read_camt054(one.bytes)), one.expected) << one.name;
}

TEST(Camt054Cases, a_value_that_is_not_handled_stops_its_item_and_the_rest_goes_on) {
    for (const auto& one : unhandled_values())
        EXPECT_EQ(effects(read_camt054(one.bytes)), one.expected) << one.name;
}

TEST(Camt054Cases, each_member_has_a_row) {
    auto rows = public_cases();
    for (auto& row : unhandled_values()) rows.push_back(std::move(row));
    for (const auto& member : camt054_members) {
        if (member.name == "AppHdr" || member.name == "Ntfctn/ElctrncSeqNb") continue;
        const auto found = std::any_of(rows.begin(), rows.end(), [&](const Case& row) {
            return row.expected.ends_with("camt.054 " + std::string{member.name});
        });
        EXPECT_TRUE(found) << member.name;
    }
}

std::vector<ReportNumber> numbers_of(const std::string& bytes) {
    return std::get<Report>(read_camt054(bytes)).numbers;
}

TEST(Camt054Cases, the_pages_of_a_message_are_a_series_and_its_last_page_ends_the_number) {
    const auto second =
        document(notification(entry(payment("P1"))), "08", page("MsgPgntn", " 02", "0"));

    EXPECT_EQ(std::get<Report>(read_camt054(second)).message_id, "M1 page 2");
    const auto numbers = numbers_of(second);
    ASSERT_EQ(numbers.size(), 2U);
    EXPECT_EQ(numbers[0].page, 2);
    EXPECT_FALSE(numbers[0].last_page);
    EXPECT_EQ(numbers[1].series, "pages of M1");
    EXPECT_EQ(numbers[1].number, 2);
    EXPECT_EQ(numbers[1].first, 1);
    const auto of_one = document(notification(page("NtfctnPgntn", "3", "true") + entry("")));
    ASSERT_EQ(numbers_of(of_one).size(), 2U);
    const auto two = [](const std::string& of) {
        return numbers_of(document(
            notification("") + notification("", "<ElctrncSeqNb>2</ElctrncSeqNb>"),
            "08",
            page("MsgPgntn", of, "false")
        ));
    };
    EXPECT_TRUE(two("1").at(0).last_page);
    EXPECT_FALSE(two("1").at(1).last_page);
    EXPECT_EQ(two("2").at(0).page, 2);
    EXPECT_EQ(two("2").at(1).page, 1);
    EXPECT_TRUE(numbers_of(of_one)[0].last_page);
    EXPECT_EQ(numbers_of(of_one)[1].series, iban + " pages of N1");
}

TEST(Camt054Cases, totals_of_a_page_may_be_those_of_all_pages) {
    const auto summary = [](const std::string& sum, const std::string& header) {
        return effects(read_camt054(document(
            notification(
                "<TxsSummry><TtlNtries><Sum>" + sum + "</Sum></TtlNtries></TxsSummry>" +
                entry(payment("P1"))
            ),
            "08",
            header
        )));
    };
    const auto of_two = page("MsgPgntn", "1", "false");
    EXPECT_EQ(summary("25.00", of_two), paid);
    EXPECT_EQ(summary("12.49", of_two), "refused camt.054 TtlNtries/Sum");
    EXPECT_EQ(summary("25.00", ""), "refused camt.054 TtlNtries/Sum");
}

TEST(Camt054Cases, a_copy_may_have_a_number_that_was_used) {
    const auto copy = [](const std::string& header) {
        return "<Envelope>" + header + plain + "</Envelope>";
    };
    EXPECT_FALSE(numbers_of(plain)[0].repeated);
    EXPECT_FALSE(numbers_of(copy("<AppHdr><PssblDplct>false</PssblDplct></AppHdr>"))[0].repeated);
    for (const auto& bytes :
         {document(notification("<CpyDplctInd>DUPL</CpyDplctInd>")),
          copy("<AppHdr xmlns=\"urn:head\"><PssblDplct>true</PssblDplct></AppHdr>"),
          copy("<AppHdr><CpyDplct>CODU</CpyDplct></AppHdr>")}) {
        EXPECT_TRUE(numbers_of(bytes)[0].repeated);
        EXPECT_EQ(std::get<Report>(read_camt054(bytes)).message_id, "M1 copy");
    }
}

// Before version 4 the net sum stands beside the gross one.
TEST(Camt054Cases, the_net_sum_of_version_2_is_checked) {
    const auto with = [](const std::string& net) {
        return effects(read_camt054(document(
            notification(
                "<TxsSummry><TtlNtries>" + net + "</TtlNtries></TxsSummry>" + entry(payment("P1"))
            ),
            "02"
        )));
    };
    EXPECT_EQ(with("<TtlNetNtryAmt>12.50</TtlNetNtryAmt>" + debit), paid);
    EXPECT_EQ(
        with("<TtlNetNtryAmt>12.51</TtlNetNtryAmt>"), "refused camt.054 TtlNtries/TtlNetNtryAmt"
    );
    EXPECT_EQ(with(credit), "refused camt.054 TtlNtries/CdtDbtInd");
}

std::string rows(std::span<const ReportMember> members) {
    std::string text;
    for (const auto& one : members)
        text += "| `" + std::string{one.name} + "` | " + std::string{one.handled} + " | " +
                std::string{one.otherwise} + " |\n";
    return text;
}

TEST(ReportMembers, are_shown_in_bank_files_md_as_they_are) {
    std::ifstream in{PAWL_SOURCE_DIR "/docs/howto/bank_files.md"};
    std::ostringstream text;
    text << in.rdbuf();
    const auto document = text.str();
    for (const auto& list : {rows(camt054_members), rows(nacha_members)})
        EXPECT_NE(document.find("|---|---|---|\n" + list + "\n"), document.npos)
            << "Put these rows into docs/howto/bank_files.md:\n"
            << list;
}

}  // namespace

}  // namespace pawl::bank::camt054_cases_test
