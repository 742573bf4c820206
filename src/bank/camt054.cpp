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
#include "src/bank/xml_tree.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace pawl::bank {

namespace {

constexpr std::string_view camt054_name_space = "urn:iso:std:iso:20022:tech:xsd:camt.054.001.08";

// Of one payment or entry, in the smallest unit. A file of 64 MiB then has no sum over 63 bits.
constexpr std::int64_t amount_max = 1'000'000'000'000;

using Problem = std::optional<ReportProblem>;

ReportProblem problem(std::string_view rule, std::string found) {
    return {"camt.054 " + std::string{rule}, std::move(found)};
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

// A number and an amount that the file gives for things that were counted; each may be missing.
Problem compare(
    const XmlElement& parent,
    std::string_view count_path,
    std::string_view sum_path,
    const Sum& counted,
    std::string_view currency
) {
    const auto count = parent.text_at(count_path);
    if (!count.empty() && whole_number(count) != counted.count)
        return problem(
            count_path,
            "it says " + std::string{count} + ", the file has " + std::to_string(counted.count)
        );
    const auto sum = parent.text_at(sum_path);
    if (!sum.empty() && amount_of(sum, currency) != counted.amount)
        return problem(
            sum_path,
            "it says " + std::string{sum} + ", the file has " +
                amount_text(counted.amount, currency)
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

class NotificationReader {
public:
    NotificationReader(Report& report, LineKeys& keys) : report_{report}, keys_{keys} {}

    Problem read(const XmlElement& notification) {
        auto account = notification.text_at("Acct/Id/IBAN");
        if (account.empty()) account = notification.text_at("Acct/Id/Othr/Id");
        if (account.empty()) return problem("Ntfctn/Acct/Id", "it has no account");
        if (!report_.sender.empty() && report_.sender != account)
            return problem("Ntfctn/Acct/Id", "one file has several accounts");
        report_.sender = account;
        const auto number = whole_number(notification.text_at("ElctrncSeqNb"));
        if (!number) return problem("Ntfctn/ElctrncSeqNb", "without it a gap can't be seen");
        report_.numbers.push_back({report_.sender, *number});
        for (const auto* one : notification.all("Ntry"))
            if (auto wrong = entry(*one)) return wrong;
        return totals(notification);
    }

private:
    Problem entry(const XmlElement& entry) {
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
        return details(entry, *money);
    }

    Problem details(const XmlElement& entry, const Money& money) {
        std::size_t count = 0;
        for (const auto* group : entry.all("NtryDtls")) count += group->all("TxDtls").size();
        if (count == 0)
            return problem("Ntry/NtryDtls/TxDtls", "an entry does not name its payments");
        Sum all;
        for (const auto* group : entry.all("NtryDtls")) {
            Sum batch;
            for (const auto* one : group->all("TxDtls"))
                if (auto wrong = transaction(entry, *one, money, count == 1, batch)) return wrong;
            all.amount += batch.amount;
            if (auto wrong = compare(*group, "Btch/NbOfTxs", "Btch/TtlAmt", batch, money.currency))
                return wrong;
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
    Problem transaction(
        const XmlElement& entry,
        const XmlElement& details,
        const Money& of_entry,
        bool only,
        Sum& batch
    ) {
        auto money = money_of(details);
        if (!money && only && details.find("Amt") == nullptr) money = of_entry;
        if (!money || money->currency != of_entry.currency)
            return problem("TxDtls/Amt", "it is missing, or in another currency than its entry");
        batch.add(money->units);
        auto reference = details.text_at("Refs/AcctSvcrRef");
        if (reference.empty() && only) reference = entry.text_at("AcctSvcrRef");
        const auto end_to_end = std::string{details.text_at("Refs/EndToEndId")};
        const bool returned = details.find("RtrInf") != nullptr;
        const auto direction = entry.text_at("CdtDbtInd");
        if (returned == (direction == "DBIT"))
            return problem(
                "TxDtls/RtrInf",
                returned ? "a return is booked as DBIT"
                         : "a CRDT without a return: money that no payment explains"
            );
        // Some banks give one reference to all payments of a batch, so it is not the whole key.
        const auto about = ":" + end_to_end + (returned ? ":returned" : ":paid");
        const auto content = end_to_end + "\n" + std::to_string(money->units) + money->currency +
                             "\n" + std::string{entry.text_at("BookgDt/Dt")} + about;
        report_.lines.push_back(
            {.what = returned ? ReportLine::What::returned : ReportLine::What::paid,
             .key = reference.empty() ? keys_.key({}, content)
                                      : keys_.key(std::string{reference} + about, {}),
             .end_to_end_id = end_to_end,
             .amount = money->units,
             .currency = money->currency,
             .reason = std::string{details.text_at("RtrInf/Rsn/Cd")}}
        );
        return std::nullopt;
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
        for (const auto& one : given)
            if (auto wrong = compare(
                    *summary, one.name + "/NbOfNtries", one.name + "/Sum", one.counted, currency_
                ))
                return wrong;
        const auto net = credits_.amount - debits_.amount;
        if (auto wrong = compare(
                *summary, {}, "TtlNtries/TtlNetNtry/Amt", {0, net < 0 ? -net : net}, currency_
            ))
            return wrong;
        const auto direction = summary->text_at("TtlNtries/TtlNetNtry/CdtDbtInd");
        if (!direction.empty() && net != 0 && (direction == "DBIT") != (net < 0))
            return problem("TtlNtries/TtlNetNtry/CdtDbtInd", "the entries' sum has another sign");
        return std::nullopt;
    }

    Report& report_;
    LineKeys& keys_;
    std::string currency_;
    Sum debits_;
    Sum credits_;
};

}  // namespace

ReadReport read_camt054(std::string_view bytes) {
    const auto read = read_xml(bytes);
    if (const auto* wrong = std::get_if<XmlProblem>(&read)) return problem("XML", wrong->found);
    const auto& document = std::get<XmlElement>(read);
    if (document.name != "Document" || document.name_space != camt054_name_space)
        return problem("namespace", "it is not " + std::string{camt054_name_space});
    const auto* body = document.find("BkToCstmrDbtCdtNtfctn");
    if (body == nullptr) return problem("BkToCstmrDbtCdtNtfctn", "it is missing");
    Report report;
    LineKeys keys;
    report.message_id = body->text_at("GrpHdr/MsgId");
    if (report.message_id.empty()) return problem("GrpHdr/MsgId", "it is missing");
    for (const auto* one : body->all("Ntfctn"))
        if (auto wrong = NotificationReader{report, keys}.read(*one)) return std::move(*wrong);
    if (report.numbers.empty()) return problem("Ntfctn", "it is missing");
    return report;
}

}  // namespace pawl::bank
