// camt.054.001.08, BankToCustomerDebitCreditNotification. What is read of it:
//
//   GrpHdr/MsgId
//   Ntfctn*  ElctrncSeqNb, Acct/Id
//            TxsSummry  TtlNtries, TtlCdtNtries, TtlDbtNtries: NbOfNtries, Sum, TtlNetNtry
//            Ntry*      Amt, CdtDbtInd, RvslInd, Sts/Cd, AcctSvcrRef
//                       NtryDtls*  Btch: NbOfTxs, TtlAmt
//                                  TxDtls*  Refs: AcctSvcrRef, EndToEndId;  Amt, RtrInf/Rsn/Cd

#include <pawl/bank_file.hpp>

#include "src/bank/amount.hpp"
#include "src/bank/line_keys.hpp"
#include "src/bank/report_check.hpp"
#include "src/bank/xml_reader.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace pawl::bank {

namespace {

constexpr std::string_view camt054_name_space = "urn:iso:std:iso:20022:tech:xsd:camt.054.001.08";

// Of one payment or entry, in the smallest unit. A file of 64 MiB then has no sum over 63 bits.
constexpr std::int64_t amount_max = 1'000'000'000'000;
// A file of 64 MiB has fewer, unless it says next to nothing of each.
constexpr std::size_t transactions_max = 500'000;

using Problem = std::optional<ReportProblem>;

ReportProblem problem(std::string_view rule, std::string found) {
    return {"camt.054 " + std::string{rule}, std::move(found), {}};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

struct Sum {
    std::int64_t count{};
    std::int64_t amount{};
    void add(std::int64_t one) {
        ++count;
        amount += one;
    }
};

// What the file says of things that were counted: their number and their amount, by these paths;
// each may be missing.
struct StatedTotal {
    std::string_view count_path;
    std::string_view sum_path;
    std::string count;
    std::string sum;
};
StatedTotal stated_total(
    const XmlElement& parent, std::string_view count_path, std::string_view sum_path
) {
    return {
        count_path,
        sum_path,
        std::string{parent.text_at(count_path)},
        std::string{parent.text_at(sum_path)}};
}

Problem compare(const StatedTotal& stated, const Sum& counted, std::string_view currency) {
    if (!stated.count.empty() && whole_number(stated.count) != counted.count)
        return problem(
            stated.count_path,
            "it says " + stated.count + ", the file has " + std::to_string(counted.count)
        );
    if (!stated.sum.empty() && amount_of(stated.sum, currency) != counted.amount)
        return problem(
            stated.sum_path,
            "it says " + stated.sum + ", the file has " + amount_text(counted.amount, currency)
        );
    return std::nullopt;
}

// What an element's Amt says; nullopt: it is missing or is no amount.
struct Money {
    std::int64_t units{};
    std::string currency{};
};
std::optional<Money> money_of(const XmlElement& parent) {
    const auto* amount = parent.find("Amt");
    if (amount == nullptr) return std::nullopt;
    const auto units = amount_of(amount->text, amount->currency);
    if (!units || *units > amount_max || amount->currency.empty()) return std::nullopt;
    return Money{*units, amount->currency};
}

// A payment of an entry.
struct Transaction {
    std::optional<Money> money{};
    bool has_amount{};
    std::string reference{};
    std::string end_to_end_id{};
    bool returned{};
    std::string reason{};
};
// NtryDtls: payments of an entry that the bank made as one batch.
struct Group {
    std::vector<Transaction> transactions{};
    StatedTotal batch{};
};

// Reads one notification after the other from their elements, each of which is dropped when it has
// been read: a file has any number of them.
class NotificationReader {
public:
    XmlThen read(std::string_view path, const XmlElement& element) {
        constexpr std::string_view notification = "BkToCstmrDbtCdtNtfctn/Ntfctn";
        if (!path.starts_with(notification)) return XmlThen::keep;
        path.remove_prefix(notification.size());
        if (path == "/Ntry/NtryDtls/TxDtls")
            problem_ = end_transaction(element);
        else if (path == "/Ntry/NtryDtls")
            end_group(element);
        else if (path == "/Ntry")
            problem_ = end_entry(element);
        else if (path.empty())
            problem_ = end_notification(element);
        else
            return XmlThen::keep;
        return problem_ ? XmlThen::stop : XmlThen::drop;
    }

    Problem problem_found() { return std::move(problem_); }
    Report& report() { return report_; }

private:
    Problem end_transaction(const XmlElement& details) {
        if (++transactions_ > transactions_max)
            return problem(
                "TxDtls", "it has more than " + std::to_string(transactions_max) + " payments"
            );
        open_group_.push_back(
            {.money = money_of(details),
             .has_amount = details.find("Amt") != nullptr,
             .reference = std::string{details.text_at("Refs/AcctSvcrRef")},
             .end_to_end_id = std::string{details.text_at("Refs/EndToEndId")},
             .returned = details.find("RtrInf") != nullptr,
             .reason = std::string{details.text_at("RtrInf/Rsn/Cd")}}
        );
        return std::nullopt;
    }

    void end_group(const XmlElement& group) {
        groups_.push_back(
            {std::exchange(open_group_, {}), stated_total(group, "Btch/NbOfTxs", "Btch/TtlAmt")}
        );
    }

    Problem end_entry(const XmlElement& entry) {
        const auto groups = std::exchange(groups_, {});
        const auto money = money_of(entry);
        if (!money) return problem("Ntry/Amt", "it is missing, or is no amount");
        if (!currency_.empty() && currency_ != money->currency)
            return problem("Ntry/Amt", "one notification has several currencies");
        currency_ = money->currency;
        const auto direction = entry.text_at("CdtDbtInd");
        if (direction != "DBIT" && direction != "CRDT")
            return problem("Ntry/CdtDbtInd", "it is neither DBIT nor CRDT");
        (direction == "DBIT" ? debits_ : credits_).add(money->units);
        if (entry.text_at("Sts/Cd") != "BOOK")
            return problem(
                "Ntry/Sts/Cd BOOK", "an entry is " + std::string{entry.text_at("Sts/Cd")}
            );
        return add_groups(entry, *money, groups);
    }

    Problem add_groups(
        const XmlElement& entry, const Money& money, const std::vector<Group>& groups
    ) {
        std::size_t count = 0;
        for (const auto& group : groups) count += group.transactions.size();
        if (count == 0)
            return problem("Ntry/NtryDtls/TxDtls", "an entry does not name its payments");
        Sum all;
        for (const auto& group : groups) {
            Sum batch;
            for (const auto& one : group.transactions)
                if (auto wrong = add_line(entry, one, money, count == 1, batch)) return wrong;
            all.amount += batch.amount;
            if (auto wrong = compare(group.batch, batch, money.currency)) return wrong;
        }
        if (all.amount != money.units)
            return problem(
                "Ntry/Amt",
                "it is " + amount_text(money.units, money.currency) + ", its payments are " +
                    amount_text(all.amount, money.currency)
            );
        return std::nullopt;
    }

    // `only`: the entry's amount and reference are this payment's, unless it has its own.
    Problem add_line(
        const XmlElement& entry,
        const Transaction& one,
        const Money& of_entry,
        bool only,
        Sum& batch
    ) {
        const auto money =
            !one.money && only && !one.has_amount ? std::optional{of_entry} : one.money;
        if (!money || money->currency != of_entry.currency)
            return problem("TxDtls/Amt", "it is missing, or in another currency than its entry");
        batch.add(money->units);
        const auto reference = one.reference.empty() && only
                                   ? std::string{entry.text_at("AcctSvcrRef")}
                                   : one.reference;
        const auto direction = entry.text_at("CdtDbtInd");
        if (one.returned == (direction == "DBIT"))
            return problem(
                "TxDtls/RtrInf",
                one.returned ? "a return is booked as DBIT"
                             : "a CRDT without a return: money that no payment explains"
            );
        // Some banks give one reference to all payments of a batch, so it is not the whole key.
        const auto about = ":" + one.end_to_end_id + (one.returned ? ":returned" : ":paid");
        const auto content = one.end_to_end_id + "\n" + std::to_string(money->units) +
                             money->currency + "\n" + std::string{entry.text_at("BookgDt/Dt")} +
                             about;
        report_.lines.push_back(
            {.what = one.returned ? ReportLine::What::returned : ReportLine::What::paid,
             .key = reference.empty() ? keys_.key({}, content) : keys_.key(reference + about, {}),
             .end_to_end_id = one.end_to_end_id,
             .amount = money->units,
             .currency = money->currency,
             .reason = one.reason}
        );
        return std::nullopt;
    }

    Problem end_notification(const XmlElement& notification) {
        auto account = notification.text_at("Acct/Id/IBAN");
        if (account.empty()) account = notification.text_at("Acct/Id/Othr/Id");
        if (account.empty()) return problem("Ntfctn/Acct/Id", "it has no account");
        if (!report_.sender.empty() && report_.sender != account)
            return problem("Ntfctn/Acct/Id", "one file has several accounts");
        report_.sender = account;
        const auto number = whole_number(notification.text_at("ElctrncSeqNb"));
        if (!number) return problem("Ntfctn/ElctrncSeqNb", "without it a gap can't be seen");
        report_.numbers.push_back({report_.sender, *number});
        auto wrong = totals(notification);
        currency_.clear();
        debits_ = credits_ = {};
        return wrong;
    }

    Problem totals(const XmlElement& notification) const {
        const auto* summary = notification.find("TxsSummry");
        if (summary == nullptr) return std::nullopt;
        const Sum all{debits_.count + credits_.count, debits_.amount + credits_.amount};
        struct Total {
            std::string name;
            Sum counted;
        };
        const std::array<Total, 3> given{
            {{"TtlNtries", all}, {"TtlCdtNtries", credits_}, {"TtlDbtNtries", debits_}}};
        for (const auto& one : given) {
            const auto count_path = one.name + "/NbOfNtries";
            const auto sum_path = one.name + "/Sum";
            if (auto wrong =
                    compare(stated_total(*summary, count_path, sum_path), one.counted, currency_))
                return wrong;
        }
        const auto net = credits_.amount - debits_.amount;
        if (auto wrong = compare(
                stated_total(*summary, {}, "TtlNtries/TtlNetNtry/Amt"),
                {0, net < 0 ? -net : net},
                currency_
            ))
            return wrong;
        const auto direction = summary->text_at("TtlNtries/TtlNetNtry/CdtDbtInd");
        if (!direction.empty() && net != 0 && (direction == "DBIT") != (net < 0))
            return problem("TtlNtries/TtlNetNtry/CdtDbtInd", "the entries' sum has another sign");
        return std::nullopt;
    }

    Report report_;
    LineKeys keys_;
    Problem problem_;
    std::size_t transactions_{0};
    std::vector<Transaction> open_group_;
    std::vector<Group> groups_;  // Of the open entry.
    // Of the open notification:
    std::string currency_;
    Sum debits_;
    Sum credits_;
};

// The account and the number of a notification, which may be an unfinished one.
std::optional<ReportNumber> number_of(const XmlElement& notification) {
    auto account = notification.text_at("Acct/Id/IBAN");
    if (account.empty()) account = notification.text_at("Acct/Id/Othr/Id");
    const auto number = whole_number(notification.text_at("ElctrncSeqNb"));
    if (account.empty() || !number) return std::nullopt;
    return ReportNumber{std::string{account}, *number};
}

ReadReport report_of(const XmlDocument& document, NotificationReader& reader) {
    if (document.root.name != "Document" || document.name_space != camt054_name_space)
        return problem("namespace", "it is not " + std::string{camt054_name_space});
    if (auto wrong = reader.problem_found()) return std::move(*wrong);
    const auto* body = document.root.find("BkToCstmrDbtCdtNtfctn");
    if (body == nullptr) return problem("BkToCstmrDbtCdtNtfctn", "it is missing");
    auto& report = reader.report();
    report.message_id = body->text_at("GrpHdr/MsgId");
    if (report.message_id.empty()) return problem("GrpHdr/MsgId", "it is missing");
    if (report.numbers.empty()) return problem("Ntfctn", "it is missing");
    return std::move(report);
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
    auto made = report_of(document, reader);
    auto* wrong = std::get_if<ReportProblem>(&made);
    if (wrong == nullptr) return checked(std::move(made));
    wrong->numbers = std::move(reader.report().numbers);
    // Reading stopped in this notification.
    const auto* open = document.root.find("BkToCstmrDbtCdtNtfctn/Ntfctn");
    if (const auto number = open == nullptr ? std::nullopt : number_of(*open))
        wrong->numbers.push_back(*number);
    return checked(std::move(made));
}

}  // namespace pawl::bank
