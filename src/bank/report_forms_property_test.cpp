// Issue 39, number 4: each legal form of a file means the same as its canonical one. Grammars make
// the forms: XML 1.0, the lexical forms of XML Schema, the versions of camt.054; and NACHA as
// programs write it.

#include <pawl/bank_file.hpp>

#include "src/bank/testing_nacha.hpp"
#include "src/bank/testing_reports.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pawl::bank::report_forms_property_test {

namespace {

bool maybe() {
    return *rc::gen::arbitrary<bool>();
}
template <class T>
T any_of(std::vector<T> values) {
    return *rc::gen::elementOf(values);
}
// Mostly the first form, so that each other one also comes alone.
std::string any_form(std::vector<std::string> forms) {
    return *rc::gen::inRange(0, 4) > 0 ? forms.front() : any_of(std::move(forms));
}

enum class Type { text, decimal, whole, count, boolean, date, status };
struct Node {
    std::string name;
    std::string value{};
    Type type{Type::text};
    std::string currency{};
    std::vector<Node> children{};
};

Node money(const std::string& value, const std::string& name = "Amt") {
    return {.name = name, .value = value, .type = Type::decimal, .currency = "EUR"};
}

Node entry(
    const std::string& value,
    const std::string& direction,
    std::vector<Node> details,
    const std::string& reversal
) {
    return {
        .name = "Ntry",
        .children = {
            money(value),
            {.name = "CdtDbtInd", .value = direction},
            {.name = "RvslInd", .value = reversal, .type = Type::boolean},
            {.name = "Sts", .value = "BOOK", .type = Type::status},
            {.name = "BookgDt",
             .children = {{.name = "Dt", .value = "2026-11-27", .type = Type::date}}},
            {.name = "AcctSvcrRef", .value = "E1"},
            {.name = "NtryDtls", .children = std::move(details)}}};
}

// With a value of each type, and an item that is set aside.
Node notification() {
    const auto payment = [](const std::string& id, const std::string& value) {
        Node refs{.name = "Refs", .children = {{.name = "EndToEndId", .value = id}}};
        return Node{.name = "TxDtls", .children = {std::move(refs), money(value)}};
    };
    auto returned = payment("P-3", "0.5");
    returned.children.push_back(
        {.name = "RtrInf",
         .children = {{.name = "Rsn", .children = {{.name = "Cd", .value = "AC04"}}}}}
    );
    Node batch{
        .name = "Btch",
        .children = {
            {.name = "NbOfTxs", .value = "2", .type = Type::count}, money("12.75", "TtlAmt")}};
    Node total{
        .name = "TtlNtries",
        .children = {
            {.name = "NbOfNtries", .value = "3", .type = Type::count},
            {.name = "Sum", .value = "13.75", .type = Type::decimal}}};
    return {
        .name = "Ntfctn",
        .children = {
            {.name = "Id", .value = "N1"},
            {.name = "ElctrncSeqNb", .value = "7", .type = Type::whole},
            {.name = "Acct",
             .children =
                 {{.name = "Id",
                   .children = {{.name = "IBAN", .value = "DE89370400440532013000"}}}}},
            {.name = "TxsSummry", .children = {std::move(total)}},
            entry("12.75", "DBIT", {batch, payment("P 1", "12.5"), payment("P2", "0.25")}, "false"),
            entry("0.5", "CRDT", {std::move(returned)}, "true"),
            entry("0.5", "DBIT", {payment("P4", "0.5")}, "true")}};
}

Node message() {
    Node header{
        .name = "GrpHdr",
        .children = {
            {.name = "MsgId", .value = "M1"},
            {.name = "CreDtTm", .value = "2026-11-27T09:30:00Z"},
            {.name = "MsgPgntn",
             .children = {
                 {.name = "PgNb", .value = "1", .type = Type::count},
                 {.name = "LastPgInd", .value = "true", .type = Type::boolean}}}}};
    return {
        .name = "Document",
        .children = {
            {.name = "BkToCstmrDbtCdtNtfctn", .children = {std::move(header), notification()}}}};
}

// One form of a file, chosen as it is written.
class XmlForm {
public:
    explicit XmlForm(bool canonical) : canonical_{canonical} {
        if (canonical_) return;
        prefix_ = any_form({"", "n:", "camt.054:"});
        version_ = any_of<std::string>({"02", "03", "04", "06", "07", "08", "11", "12", "14"});
        end_ = any_form({"", "\n", "\r\n", "\r", "\t "});
    }

    std::string file(const Node& root) {
        if (canonical_) return element(root);
        const std::string encoding = any_form(
            {"UTF-8", "utf8", "", "UTF-16", "ISO-8859-1", "iso-8859-15", "Windows-1252", "US-ASCII"}
        );
        const bool declared = !encoding.empty() && (encoding.front() != 'U' || maybe());
        std::string text;
        if (declared || encoding == "US-ASCII")
            text = "<?xml version=\"1.0\" encoding='" + encoding + "' standalone=\"yes\" ?>";
        text += between() + enveloped(element(root)) + between();
        if (encoding == "UTF-16") return utf16(text);
        return (encoding.empty() || encoding == "UTF-8") && maybe() ? "\xef\xbb\xbf" + text : text;
    }

private:
    std::string enveloped(const std::string& document) {
        const auto header = "<h:AppHdr xmlns:h='urn:head'><h:BizMsgIdr>B</h:BizMsgIdr></h:AppHdr>";
        return any_form(
            {document,
             "<BizMsgEnvlp xmlns='urn:x'>" + between() + header + document + "</BizMsgEnvlp>",
             "<a><Body>" + document + "</Body></a>"}
        );
    }
    static std::string utf16(const std::string& ascii) {
        const bool little = maybe();
        std::string bytes{little ? "\xff\xfe" : "\xfe\xff"};
        for (const char c : ascii) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
        return bytes;
    }

    // Where white space means nothing.
    std::string between() {
        if (canonical_) return "";
        return any_form({end_, end_ + "<!-- <Ntry> & -->", "<?work <Ntry> ?>" + end_});
    }

    std::string element(const Node& node) {
        if (node.type == Type::status) return status(node);
        std::string inner = node.children.empty() ? value(node) : "";
        for (const auto& child : node.children) inner += between() + element(child);
        if (!node.children.empty()) inner += between();
        return tag(node, inner);
    }
    std::string tag(const Node& node, const std::string& inner) {
        const auto space = canonical_ ? "" : any_form({"", " ", "\n"});
        const std::string quote = canonical_ || maybe() ? "\"" : "'";
        std::string begin = "<" + prefix_ + node.name;
        if (node.name == "Document") {
            const auto name = prefix_.substr(0, prefix_.size() - (prefix_.empty() ? 0 : 1));
            begin += " xmlns" + (name.empty() ? "" : ":" + name) + "=" + quote +
                     "urn:iso:std:iso:20022:tech:xsd:camt.054.001." + version_ + quote;
        }
        if (!node.currency.empty()) begin += " Ccy" + space + "=" + quote + node.currency + quote;
        if (inner.empty() && !canonical_ && maybe()) return begin + "/>";
        return begin + space + ">" + inner + "</" + prefix_ + node.name + space + ">";
    }
    // A choice since version 7.
    std::string status(const Node& node) {
        Node code{.name = "Cd", .value = node.value};
        return tag(node, version_ < "07" ? value(code) : element(code));
    }

    std::string value(const Node& node) {
        if (canonical_) return node.value;
        return any_form({"", " ", "\n "}) + marked_up(lexical(node)) + any_form({"", "  ", "\r\n"});
    }
    static std::string lexical(const Node& node) {
        const auto& text = node.value;
        const bool has_point = text.find('.') != text.npos;
        switch (node.type) {
            case Type::decimal:
                return any_form(
                    {text,
                     "+" + text,
                     "00" + text,
                     text + (has_point ? "00" : ".00"),
                     text.starts_with("0.") ? text.substr(1) : text + (has_point ? "" : ".")}
                );
            case Type::whole:
                return any_form({text, "+" + text, "000" + text, text + ".0", text + "."});
            case Type::count:
                return any_form({text, "000" + text});
            case Type::boolean:
                return any_form({text, text == "true" ? "1" : "0"});
            case Type::date:
                return any_form({text, text + "Z", text + "+01:00"});
            case Type::text:
            case Type::status:
                break;
        }
        return text;
    }
    static std::string marked_up(const std::string& text) {
        const auto first = text.substr(0, 1);
        const auto rest = text.substr(1);
        const auto number = std::to_string(static_cast<int>(first.front()));
        return any_form(
            {text,
             "<![CDATA[" + text + "]]>",
             first + "<![CDATA[" + rest + "]]>",
             "&#" + number + ";" + rest,
             first + "<!-- 1 -->" + rest,
             first + "<?work 1?>" + rest}
        );
    }

    bool canonical_;
    std::string prefix_{};
    std::string version_{"08"};
    std::string end_{};
};

RC_GTEST_PROP(ReportForms, each_form_of_a_camt054_means_the_same, ()) {
    static const auto canonical = everything(read_camt054(XmlForm{true}.file(message())));
    RC_ASSERT(canonical.starts_with(
        "paid P 1 1250 EUR; paid P2 25 EUR; returned P-3 50 EUR AC04; aside camt.054 Ntry/RvslInd\n"
    ));
    for (int i = 0; i < 5; ++i) {
        const auto bytes = XmlForm{false}.file(message());
        if (everything(read_camt054(bytes)) != canonical) RC_LOG() << bytes;
        RC_ASSERT(everything(read_camt054(bytes)) == canonical);
    }
}

std::string nacha_form(std::vector<std::string> records) {
    const auto end = any_of<std::string>({"\n", "\r\n", "\r", "\r\r\n", ""});
    if (maybe()) records.front()[33] = 'a';
    if (maybe())
        while (records.size() % records_a_block != 0) records.emplace_back(record_size, '9');
    const auto person = any_of<std::string>({"Jane Roe", "Jos\xe9 Roe", "Jos\xc3\xa9 Roe"});
    std::string text;
    if (!end.empty() && maybe()) text = "$$ADD ID=ABC BID='RET'" + end;
    for (auto& record : records) {
        const auto name = record.find("Jane Roe");
        if (name != record.npos)
            record.replace(name, person.size() - (person[3] == '\xc3'), person);
        const auto blanks = end.empty() ? 0 : *rc::gen::inRange(0, 3);
        if (blanks == 1) record.erase(record.find_last_not_of(' ') + 1);
        if (blanks == 2)
            record += std::string(static_cast<std::size_t>(*rc::gen::inRange(1, 200)), ' ');
        text += record + end;
    }
    if (maybe()) text = "\xef\xbb\xbf" + text;
    return text + any_of<std::string>({"", "\n", "\r\n\r\n", "\x1a", "\r\n\x1a\x1a", "  \n"});
}

RC_GTEST_PROP(ReportForms, each_form_of_nacha_returns_means_the_same, ()) {
    auto first = nacha_records(
        {{"PPD", {{.id = "P1"}, {.id = "P2", .code = "31", .cents = 7}}},
         {"CCD",
          {{.id = "P3", .addenda = {{"05", ""}, {"99", "R85"}}}, {.id = "P4", .code = "36"}}}}
    );
    const auto canonical = everything(read_nacha_returns(joined(first)));
    RC_ASSERT(canonical.starts_with("returned P1 1250 USD R03; returned P2 7 USD R03; returned P3")
    );
    for (int i = 0; i < 5; ++i) {
        const auto bytes = nacha_form(first);
        if (everything(read_nacha_returns(bytes)) != canonical) RC_LOG() << bytes;
        RC_ASSERT(everything(read_nacha_returns(bytes)) == canonical);
    }
}

}  // namespace

}  // namespace pawl::bank::report_forms_property_test
