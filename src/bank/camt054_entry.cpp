#include "src/bank/camt054_entry.hpp"

#include "src/bank/amount.hpp"
#include "src/bank/report_check.hpp"

#include <cstdlib>
#include <utility>

namespace pawl::bank {

namespace {

// In the smallest unit. 500,000 payments then have no sum over 63 bits.
constexpr std::int64_t units_max = 1'000'000'000'000;
// In 100,000ths.
constexpr std::int64_t charges_max = 1'000'000'000'000;

std::string text_of(const CamtAmount& amount) {
    const auto units = units_of(amount.parts, amount.currency);
    return (units ? amount_text(*units, amount.currency) : parts_text(amount.parts)) + " " +
           amount.currency;
}

// Before version 4 each Chrgs is one record, and has no ChrgInclInd.
std::vector<const XmlElement*> charge_records(const XmlElement& charges) {
    auto records = charges.all("Rcrd");
    if (records.empty()) records.push_back(&charges);
    return records;
}

std::optional<std::int64_t> read_charges(const XmlElement& parent) {
    std::int64_t sum = 0;
    for (const auto* charges : parent.all("Chrgs"))
        for (const auto* record : charge_records(*charges)) {
            if (read_boolean(record->text_at("ChrgInclInd")) == false) continue;
            const auto* amount = record->find("Amt");
            if (amount == nullptr) amount = record->find("TtlChrgsAndTaxAmt");
            if (amount == nullptr) continue;
            const auto parts = decimal_parts(amount->text);
            if (!parts || *parts < 0 || *parts > charges_max) return std::nullopt;
            sum += record->text_at("CdtDbtInd") == "CRDT" ? -*parts : *parts;
        }
    if (std::abs(sum) > charges_max) return std::nullopt;
    return sum;
}

CamtCommon read_common(const XmlElement& from, std::string_view reference) {
    CamtCommon common{
        .direction = std::string{from.text_at("CdtDbtInd")},
        .reference = std::string{from.text_at(reference)},
        .sub_family = std::string{from.text_at("BkTxCd/Domn/Fmly/SubFmlyCd")},
        .charges = read_charges(from)};
    for (const auto* path : {"AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt"})
        if (const auto* amount = from.find(path); amount != nullptr)
            common.other_amounts.push_back(read_amount(amount));
    return common;
}

// The code of a status or a reason: a choice of Cd and Prtry, or in old versions the text itself.
std::string read_code(const XmlElement& from, const std::string& path) {
    for (const auto* choice : {"/Cd", ""})
        if (const auto code = from.text_at(path + choice); !code.empty()) return std::string{code};
    return std::string{from.text_at(path + "/Prtry")};
}

bool names_a_payment(std::string_view end_to_end_id) {
    return !end_to_end_id.empty() && end_to_end_id != "NOTPROVIDED";
}

using Reason = std::optional<SetAsideReason>;

class EntryDecider {
public:
    explicit EntryDecider(const CamtEntry& entry) : entry_{entry} {
        for (const auto& batch : entry.batches)
            for (const auto& payment : batch.payments) payments_.push_back(&payment);
    }

    CamtEffect decide() {
        if (const auto reason = problem()) {
            const auto* only = payments_.size() == 1 ? payments_.front() : nullptr;
            set_aside(*reason, only);
            return std::move(effect_);
        }
        for (const auto* payment : payments_) {
            if (const auto reason = problem_of(*payment))
                set_aside(*reason, payment);
            else
                effect_.lines.push_back(line_for(*payment));
        }
        return std::move(effect_);
    }

private:
    bool is_debit(const CamtPayment& payment) const {
        return (payment.direction.empty() ? entry_.direction : payment.direction) == "DBIT";
    }
    // Only the entry's single payment may leave it to the entry.
    std::optional<CamtAmount> amount_of(const CamtPayment& payment) const {
        if (payment.has_amount) return payment.amount;
        if (payments_.size() == 1) return entry_.amount;
        return std::nullopt;
    }
    // With the sign that it has in the entry's amount.
    std::int64_t signed_parts(const CamtPayment& payment) const {
        const auto parts = amount_of(payment)->parts;
        return is_debit(payment) == (entry_.direction == "DBIT") ? parts : -parts;
    }
    std::int64_t signed_charges(const CamtCommon& common) const {
        return entry_.direction == "DBIT" ? *common.charges : -*common.charges;
    }

    Reason problem() {
        if (entry_.status != "BOOK") return SetAsideReason{"Ntry/Sts", "it is " + entry_.status};
        if (auto reason = reversal_problem()) return reason;
        if (payments_.empty())
            return SetAsideReason{"Ntry/NtryDtls/TxDtls", "it names no payment" + ids()};
        for (const auto* payment : payments_)
            if (auto reason = amount_problem(*payment)) return reason;
        for (const auto& batch : entry_.batches)
            if (auto reason = batch_problem(batch)) return reason;
        return balance_problem();
    }

    // A reversed credit is a debit: what came back has gone again.
    Reason reversal_problem() const {
        if (entry_.reversal.empty()) return std::nullopt;
        const auto reversal = read_boolean(entry_.reversal);
        if (reversal == false || (reversal == true && entry_.direction == "CRDT"))
            return std::nullopt;
        return SetAsideReason{
            "Ntry/RvslInd", reversal ? "a return is reversed" : "it is " + entry_.reversal};
    }

    // For persons: which of our files a batch may be.
    std::string ids() const {
        std::string text;
        for (const auto& batch : entry_.batches)
            text += "; batch " + batch.id + " of " + (batch.count.empty() ? "?" : batch.count);
        return text;
    }

    Reason amount_problem(const CamtPayment& payment) const {
        if (!payment.direction.empty() && payment.direction != "DBIT" &&
            payment.direction != "CRDT")
            return SetAsideReason{"TxDtls/CdtDbtInd", "it is " + payment.direction};
        const auto amount = amount_of(payment);
        if (!amount) return SetAsideReason{"TxDtls/Amt", "it is missing, or is no amount"};
        if (amount->currency != entry_.amount.currency)
            return SetAsideReason{"TxDtls/Amt/Ccy", "a payment is over " + text_of(*amount)};
        if (!payment.charges || !entry_.charges)
            return SetAsideReason{"Ntry/Chrgs", "one is no amount"};
        return std::nullopt;
    }

    // A total is net or gross: banks differ.
    Reason batch_problem(const CamtBatch& batch) const {
        std::int64_t net = 0;
        std::int64_t gross = 0;
        for (const auto& payment : batch.payments) {
            net += signed_parts(payment);
            gross += amount_of(payment)->parts;
            if (gross > parts_sum_max)
                return SetAsideReason{"TxDtls/Amt", "their sum is too large"};
        }
        const auto count = static_cast<std::int64_t>(batch.payments.size());
        if (!batch.count.empty() && whole_number(batch.count) != count)
            return SetAsideReason{
                "Btch/NbOfTxs", "it is " + batch.count + " for " + std::to_string(count)};
        const auto total = decimal_parts(batch.total);
        if (!batch.total.empty() && total != gross && total != std::abs(net))
            return SetAsideReason{
                "Btch/TtlAmt", "it is " + batch.total + " for " + parts_text(net)};
        const auto same = batch.direction == entry_.direction;
        if (!batch.direction.empty() && net != 0 && same != (net > 0))
            return SetAsideReason{"Btch/CdtDbtInd", "it is " + batch.direction};
        return std::nullopt;
    }

    // The payments are the entry's amount, perhaps with charges that the bank has put into it.
    Reason balance_problem() {
        std::int64_t sum = 0;
        std::int64_t charges = 0;
        for (const auto* payment : payments_) {
            sum += signed_parts(*payment);
            charges += signed_charges(*payment);
            if (std::abs(sum) > parts_sum_max)
                return SetAsideReason{"TxDtls/Amt", "their sum is too large"};
        }
        const auto rest = entry_.amount.parts - sum;
        const auto of_entry = signed_charges(entry_);
        charges_explain_ = rest != 0 && (rest == charges || rest == of_entry);
        if (rest != 0 && !charges_explain_)
            return SetAsideReason{"Ntry/Amt", "its payments are " + parts_text(sum)};
        if (rest == 0 && of_entry != 0)
            return SetAsideReason{"Ntry/Chrgs", "its payments may contain " + parts_text(of_entry)};
        const CamtAmount net{sum, entry_.amount.currency};
        for (const auto& other : entry_.other_amounts)
            if (other != entry_.amount && other != net)
                return SetAsideReason{"Ntry/AmtDtls", other ? text_of(*other) : "one is no amount"};
        return std::nullopt;
    }

    Reason problem_of(const CamtPayment& payment) const {
        if (!names_a_payment(payment.end_to_end_id))
            return SetAsideReason{"Refs/EndToEndId", "it names no payment"};
        const bool debit = is_debit(payment);
        if (debit && payment.returned)
            return SetAsideReason{"TxDtls/RtrInf", "a return is a debit"};
        if (read_boolean(entry_.reversal) == true && (debit || !payment.returned))
            return SetAsideReason{"Ntry/RvslInd", "the booking of a payment is reversed"};
        if (!debit && !payment.returned)
            return SetAsideReason{"TxDtls/RtrInf", "a credit is no return: no payment explains it"};
        if (debit && (is_return_code(payment) || is_return_code(entry_)))
            return SetAsideReason{"BkTxCd/Domn/Fmly/SubFmlyCd", "a return or reversal is a debit"};
        const auto amount = *amount_of(payment);
        for (const auto& other : payment.other_amounts)
            if (other != amount)
                return SetAsideReason{
                    "TxDtls/AmtDtls", other ? text_of(*other) : "one is no amount"};
        if (*payment.charges != 0 && !charges_explain_)
            return SetAsideReason{"TxDtls/Chrgs", "it may contain " + parts_text(*payment.charges)};
        const auto units = units_of(amount.parts, amount.currency);
        if (!units || *units <= 0 || *units > units_max)
            return SetAsideReason{"TxDtls/Amt", "no payment is over " + text_of(amount)};
        return std::nullopt;
    }
    static bool is_return_code(const CamtCommon& common) {
        return common.sub_family == "RRTN" || common.sub_family == "RPCR";
    }

    CamtLine line_for(const CamtPayment& payment) const {
        const auto& currency = entry_.amount.currency;
        const auto units = *units_of(amount_of(payment)->parts, currency);
        const auto& reference = payment.reference.empty() && payments_.size() == 1
                                    ? entry_.reference
                                    : payment.reference;
        // Some banks give one reference to all payments of a batch, so it is not the whole key.
        const auto about = ":" + payment.end_to_end_id + (payment.returned ? ":returned" : ":paid");
        return {
            .line =
                {.what = payment.returned ? ReportLine::What::returned : ReportLine::What::paid,
                 .end_to_end_id = payment.end_to_end_id,
                 .amount = units,
                 .currency = currency,
                 .reason = payment.reason},
            .reference = reference.empty() ? "" : reference + about,
            .content = payment.end_to_end_id + "\n" + std::to_string(units) + currency + "\n" +
                       entry_.booked_on + about};
    }

    // `payment`: nullptr: the entry has several, or none.
    void set_aside(const SetAsideReason& reason, const CamtPayment* payment) {
        const auto amount = payment == nullptr ? std::nullopt : amount_of(*payment);
        auto found = entry_.direction + " " + text_of(amount.value_or(entry_.amount));
        if (!entry_.booked_on.empty()) found += " of " + entry_.booked_on;
        const auto& reference = payment == nullptr || payment->reference.empty()
                                    ? entry_.reference
                                    : payment->reference;
        if (!reference.empty()) found += ", reference " + reference;
        effect_.set_aside.push_back(
            {.rule = "camt.054 " + reason.rule,
             .found = found + ": " + reason.why,
             .end_to_end_id = payment == nullptr ? "" : payment->end_to_end_id}
        );
    }

    const CamtEntry& entry_;
    std::vector<const CamtPayment*> payments_;
    bool charges_explain_{false};
    CamtEffect effect_;
};

}  // namespace

std::optional<CamtAmount> read_amount(const XmlElement* amount) {
    if (amount == nullptr || amount->currency.empty()) return std::nullopt;
    const auto parts = decimal_parts(amount->text);
    if (!parts || *parts < 0) return std::nullopt;
    return CamtAmount{*parts, amount->currency};
}

std::optional<bool> read_boolean(std::string_view text) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
}

CamtPayment read_payment(const XmlElement& details) {
    CamtPayment payment{read_common(details, "Refs/AcctSvcrRef")};
    // Before version 4 a payment has no Amt of its own.
    const auto* amount = details.find("Amt");
    for (const auto* path : {"AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt"})
        if (amount == nullptr) amount = details.find(path);
    payment.has_amount = amount != nullptr;
    payment.amount = read_amount(amount);
    payment.end_to_end_id = details.text_at("Refs/EndToEndId");
    payment.returned = details.find("RtrInf") != nullptr;
    payment.reason = read_code(details, "RtrInf/Rsn");
    return payment;
}

CamtBatch read_batch(const XmlElement& group, std::vector<CamtPayment> payments) {
    auto id = group.text_at("Btch/PmtInfId");
    if (id.empty()) id = group.text_at("Btch/MsgId");
    return {
        .payments = std::move(payments),
        .id = std::string{id},
        .count = std::string{group.text_at("Btch/NbOfTxs")},
        .total = std::string{group.text_at("Btch/TtlAmt")},
        .direction = std::string{group.text_at("Btch/CdtDbtInd")}};
}

CamtEntry read_entry(const XmlElement& entry, CamtAmount amount) {
    constexpr std::size_t date_size = 10;  // Of 2026-11-27+01:00, too.
    CamtEntry read{read_common(entry, "AcctSvcrRef")};
    read.amount = std::move(amount);
    read.status = entry.find("Sts/Prtry") == nullptr ? read_code(entry, "Sts") : "Prtry";
    read.reversal = entry.text_at("RvslInd");
    read.booked_on = entry.text_at("BookgDt/Dt").substr(0, date_size);
    return read;
}

CamtEffect decide_entry(const CamtEntry& entry) {
    return EntryDecider{entry}.decide();
}

}  // namespace pawl::bank
