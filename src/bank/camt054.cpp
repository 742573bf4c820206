// camt.054, BankToCustomerDebitCreditNotification, versions 2 to 14. What is read of it:
//
//   AppHdr*  CpyDplct, PssblDplct                                     (in an envelope)
//   GrpHdr/MsgId, MsgPgntn
//   Ntfctn*  NtfctnPgntn, ElctrncSeqNb, CpyDplctInd, Acct/Id, Acct/Ccy
//            TxsSummry  TtlNtries, TtlCdtNtries, TtlDbtNtries: NbOfNtries, Sum, TtlNetNtry
//            Ntry*      src/bank/camt054_entry.cpp

#include <pawl/bank_file.hpp>

#include "src/bank/amount.hpp"
#include "src/bank/camt054_entry.hpp"
#include "src/bank/line_keys.hpp"
#include "src/bank/report_check.hpp"
#include "src/bank/xml_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

namespace pawl::bank {

namespace {

constexpr std::string_view name_spaces = "urn:iso:std:iso:20022:tech:xsd:camt.054.001.";
constexpr std::string_view body = "BkToCstmrDbtCdtNtfctn";

// A file of 64 MiB has fewer, unless it says next to nothing of each.
constexpr std::size_t transactions_max = 500'000;

using Problem = std::optional<ReportProblem>;

ReportProblem problem(std::string_view rule, std::string found) {
    return {"camt.054 " + std::string{rule}, std::move(found), {}};
}

bool is_version(std::string_view name_space) {
    if (!name_space.starts_with(name_spaces)) return false;
    const auto version = name_space.substr(name_spaces.size());
    return version.size() == 2 && version >= "02" && version <= "14" && version[1] >= '0' &&
           version[1] <= '9';
}

struct Sum {
    std::int64_t count{};
    std::int64_t parts{};
    void add(std::int64_t one) {
        ++count;
        parts += one;
    }
};

struct Page {
    std::int64_t number{1};
    bool last{true};
    bool alone() const { return number == 1 && last; }
};
// nullopt: the pagination can't be read.
std::optional<Page> read_page(const XmlElement& parent, const std::string& path) {
    if (parent.find(path) == nullptr) return Page{};
    const auto number = whole_number(parent.text_at(path + "/PgNb"));
    const auto last = read_boolean(parent.text_at(path + "/LastPgInd"));
    if (!number || *number < 1 || !last) return std::nullopt;
    return Page{*number, *last};
}

// What the file says of things that were counted. Of a page, it may be said of all pages.
Problem compare(
    std::string_view path,
    std::optional<std::int64_t> stated,
    std::string_view text,
    std::int64_t counted,
    const std::string& counted_text,
    Page page
) {
    if (text.empty() || stated == counted) return std::nullopt;
    if (stated && *stated > counted && !page.alone()) return std::nullopt;
    return problem(path, "it says " + std::string{text} + ", the file has " + counted_text);
}
Problem compare_count(
    std::string_view path, std::string_view text, std::int64_t counted, Page page
) {
    return compare(path, whole_number(text), text, counted, std::to_string(counted), page);
}
Problem compare_sum(std::string_view path, std::string_view text, std::int64_t counted, Page page) {
    return compare(path, decimal_parts(text), text, counted, parts_text(counted), page);
}

std::string_view account_of(const XmlElement& notification) {
    const auto iban = notification.text_at("Acct/Id/IBAN");
    return iban.empty() ? notification.text_at("Acct/Id/Othr/Id") : iban;
}

// "BizMsgEnvlp/*Document/X/Y" is "X/Y"; empty: not in a message.
std::string_view path_in_message(std::string_view path) {
    for (std::string_view rest = path; !rest.empty();) {
        const auto end = std::min(rest.find('/'), rest.size());
        const auto name = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (name == "Document" || name == "*Document") return rest;
    }
    return {};
}

// Reads one notification after the other from their elements, each of which is dropped when it has
// been read: a file has any number of them.
class NotificationReader {
public:
    XmlThen read(std::string_view path, const XmlElement& element) {
        if (path.ends_with("AppHdr") && path_in_message(path).empty()) read_header(element);
        path = path_in_message(path);
        if (!path.starts_with(body)) return XmlThen::keep;
        path.remove_prefix(body.size());
        if (path == "/GrpHdr")
            problem_ = read_group_header(element);
        else if (path.starts_with("/Ntfctn"))
            return read_notification(path.substr(sizeof("/Ntfctn") - 1), element);
        return problem_ ? XmlThen::stop : XmlThen::keep;
    }

    Problem problem_found() { return std::move(problem_); }
    Report& report() { return report_; }

    // Of a notification, which may be an unfinished one.
    void add_number(const XmlElement& notification) {
        const auto account = std::string{account_of(notification)};
        const auto number = whole_number(notification.text_at("ElctrncSeqNb"));
        const auto page = read_page(notification, "NtfctnPgntn").value_or(Page{});
        if (account.empty()) return;
        const bool repeated = repeated_ || !notification.text_at("CpyDplctInd").empty();
        if (!number)
            report_.unnumbered.push_back(account);
        else
            add_number(account, *number, page.alone() ? page_ : page, repeated);
        if (page.alone()) return;
        if (first_page_ == 0) first_page_ = page.number;
        const auto id = std::string{notification.text_at("Id")};
        report_.numbers.push_back(
            {.series = account + " pages of " + id,
             .number = page.number,
             .repeated = repeated,
             .first = 1}
        );
    }

    void end() {
        report_.message_id = message_id_;
        const auto is_copy = [](const ReportNumber& one) { return one.repeated; };
        if (std::ranges::any_of(report_.numbers, is_copy)) report_.message_id += " copy";
        const auto page = page_.number > 1 ? page_.number : first_page_;
        if (page > 1) report_.message_id += " page " + std::to_string(page);
        if (!page_.alone())
            report_.numbers.push_back(
                {.series = "pages of " + message_id_,
                 .number = page_.number,
                 .repeated = repeated_,
                 .first = 1}
            );
    }

private:
    // Only the first notification of an account goes on from the page before, and only its last one
    // goes on in the next page.
    void add_number(const std::string& account, std::int64_t number, Page page, bool repeated) {
        for (auto& one : report_.numbers) {
            if (one.series != account) continue;
            one.last_page = true;
            page.number = 1;
        }
        report_.numbers.push_back(
            {.series = account,
             .number = number,
             .page = page.number,
             .last_page = page.last,
             .repeated = repeated}
        );
    }
    // head.001. A possible duplicate may also be the first that arrives.
    void read_header(const XmlElement& header) {
        repeated_ = !header.text_at("CpyDplct").empty() ||
                    read_boolean(header.text_at("PssblDplct")).value_or(false);
    }

    Problem read_group_header(const XmlElement& header) {
        if (!message_id_.empty()) return problem("GrpHdr", "one file has several messages");
        message_id_ = header.text_at("MsgId");
        const auto page = read_page(header, "MsgPgntn");
        if (!page) return problem("GrpHdr/MsgPgntn", "it is no page");
        page_ = *page;
        return std::nullopt;
    }

    XmlThen read_notification(std::string_view path, const XmlElement& element) {
        if (path == "/Ntry/NtryDtls/TxDtls")
            problem_ = end_transaction(element);
        else if (path == "/Ntry/NtryDtls")
            batches_.push_back(read_batch(element, std::exchange(payments_, {})));
        else if (path == "/Ntry")
            problem_ = end_entry(element);
        else if (path.empty())
            problem_ = end_notification(element);
        else
            return XmlThen::keep;
        return problem_ ? XmlThen::stop : XmlThen::drop;
    }

    Problem end_transaction(const XmlElement& details) {
        if (++transactions_ > transactions_max)
            return problem(
                "TxDtls", "it has more than " + std::to_string(transactions_max) + " payments"
            );
        payments_.push_back(read_payment(details));
        return std::nullopt;
    }

    // What the sums need must be right.
    Problem end_entry(const XmlElement& element) {
        const auto amount = read_amount(element.find("Amt"));
        if (!amount) return problem("Ntry/Amt", "it is missing, or is no amount");
        if (currency_.empty()) currency_ = amount->currency;
        auto entry = read_entry(element, *amount);
        entry.batches = std::exchange(batches_, {});
        if (entry.direction != "DBIT" && entry.direction != "CRDT")
            return problem("Ntry/CdtDbtInd", "it is neither DBIT nor CRDT");
        (entry.direction == "DBIT" ? debits_ : credits_).add(amount->parts);
        if (debits_.parts + credits_.parts > parts_sum_max)
            return problem("Ntry/Amt", "it is too large");
        auto effect = decide_entry(entry);
        for (auto& line : effect.lines) lines_.push_back(std::move(line));
        for (auto& item : effect.set_aside) report_.set_aside.push_back(std::move(item));
        return std::nullopt;
    }

    Problem end_notification(const XmlElement& notification) {
        const auto account = std::string{account_of(notification)};
        if (account.empty()) return problem("Ntfctn/Acct/Id", "it has no account");
        if (report_.sender.empty()) report_.sender = account;
        const auto page = read_page(notification, "NtfctnPgntn");
        if (!page) return problem("Ntfctn/NtfctnPgntn", "it is no page");
        add_number(notification);
        add_lines(notification, account);
        auto wrong = totals(notification, page->alone() ? page_ : *page);
        currency_.clear();
        debits_ = credits_ = {};
        return wrong;
    }

    void add_lines(const XmlElement& notification, const std::string& account) {
        const auto copy = notification.text_at("CpyDplctInd");
        const bool known_copy = copy.empty() || copy == "CODU" || copy == "COPY" || copy == "DUPL";
        const auto currency = notification.text_at("Acct/Ccy");
        if (!currency.empty()) currency_ = currency;
        for (auto& [line, reference, content] : std::exchange(lines_, {})) {
            if (!known_copy) {
                set_aside(line, "Ntfctn/CpyDplctInd", "it is " + std::string{copy});
            } else if (line.currency != currency_) {
                set_aside(line, "Ntry/Amt/Ccy", "its account is in " + currency_);
            } else {
                line.key = keys_[account].key(reference, content);
                if (account != report_.sender) line.account = account;
                report_.lines.push_back(std::move(line));
            }
        }
    }
    void set_aside(const ReportLine& line, const std::string& rule, const std::string& why) {
        report_.set_aside.push_back(
            {"camt.054 " + rule,
             amount_text(line.amount, line.currency) + " " + line.currency + ": " + why,
             line.end_to_end_id}
        );
    }

    Problem totals(const XmlElement& notification, Page page) const {
        const auto* summary = notification.find("TxsSummry");
        if (summary == nullptr) return std::nullopt;
        struct Total {
            std::string name;
            Sum counted;
        };
        const Sum all{debits_.count + credits_.count, debits_.parts + credits_.parts};
        const std::array<Total, 3> given{
            {{"TtlNtries", all}, {"TtlCdtNtries", credits_}, {"TtlDbtNtries", debits_}}};
        for (const auto& [name, counted] : given) {
            const auto count = name + "/NbOfNtries";
            const auto sum = name + "/Sum";
            if (auto wrong = compare_count(count, summary->text_at(count), counted.count, page))
                return wrong;
            if (auto wrong = compare_sum(sum, summary->text_at(sum), counted.parts, page))
                return wrong;
        }
        return page.alone() ? net_total(*summary) : std::nullopt;
    }

    // Before version 4 the net amount and its sign stand beside the sum.
    Problem net_total(const XmlElement& summary) const {
        const auto net = credits_.parts - debits_.parts;
        for (const std::string amount : {"TtlNtries/TtlNetNtry/Amt", "TtlNtries/TtlNetNtryAmt"})
            if (auto wrong = compare_sum(amount, summary.text_at(amount), std::abs(net), {}))
                return wrong;
        for (const std::string path : {"TtlNtries/TtlNetNtry/CdtDbtInd", "TtlNtries/CdtDbtInd"}) {
            const auto direction = summary.text_at(path);
            if (!direction.empty() && net != 0 && (direction == "DBIT") != (net < 0))
                return problem(path, "the entries' sum has another sign");
        }
        return std::nullopt;
    }

    Report report_;
    std::map<std::string, LineKeys> keys_;  // Of each account.
    Problem problem_;
    std::string message_id_;
    Page page_;                   // Of the message.
    std::int64_t first_page_{0};  // Of the first notification that has a page of its own.
    bool repeated_{false};
    std::size_t transactions_{0};
    std::vector<CamtPayment> payments_;  // Of the open batch.
    std::vector<CamtBatch> batches_;     // Of the open entry.
    // Of the open notification:
    std::vector<CamtLine> lines_;
    std::string currency_;
    Sum debits_;
    Sum credits_;
};

// The message, perhaps in an envelope, and its namespace.
struct Message {
    const XmlElement* element{};
    std::string_view name_space{};
};
Message find_message(const XmlElement& from, std::string_view name_space) {
    if (!from.name_space.empty()) name_space = from.name_space;
    if (from.name == "Document" || from.name == "*Document") return {&from, name_space};
    for (const auto& child : from.children)
        if (const auto found = find_message(child, name_space); found.element != nullptr)
            return found;
    return {};
}

Problem problem_of(const XmlDocument& document, NotificationReader& reader) {
    const auto message = find_message(document.root, {});
    if (message.element == nullptr || !is_version(message.name_space))
        return problem("namespace", "it is not " + std::string{name_spaces} + "02 to 14");
    if (auto wrong = reader.problem_found()) return wrong;
    if (message.element->find(body) == nullptr) return problem(body, "it is missing");
    const auto& report = reader.report();
    if (report.message_id.empty()) return problem("GrpHdr/MsgId", "it is missing");
    if (report.sender.empty()) return problem("Ntfctn", "it is missing");
    return std::nullopt;
}

}  // namespace

ReadReport read_camt054(std::string_view bytes) {
    NotificationReader reader;
    const auto read = read_xml(bytes, [&](std::string_view path, const XmlElement& element) {
        return reader.read(path, element);
    });
    if (const auto* wrong = std::get_if<XmlProblem>(&read))
        return checked(problem("XML", wrong->found));
    const auto& document = std::get<XmlDocument>(read);
    reader.end();
    auto wrong = problem_of(document, reader);
    if (!wrong) return checked(std::move(reader.report()));
    // Reading stopped in this notification.
    const auto message = find_message(document.root, {});
    if (message.element != nullptr)
        if (const auto* open = message.element->find(std::string{body} + "/Ntfctn"))
            reader.add_number(*open);
    wrong->numbers = std::move(reader.report().numbers);
    return checked(std::move(*wrong));
}

}  // namespace pawl::bank
