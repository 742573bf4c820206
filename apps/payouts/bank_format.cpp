#include "apps/payouts/bank_format.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace payouts {

namespace {

constexpr std::string_view modifiers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

std::string eight_digits(std::int64_t number) {
    auto digits = std::to_string(number);
    return std::string(8 - std::min<std::size_t>(digits.size(), 8), '0') + digits;
}

// The most that the control sum of a file can say.
std::int64_t sum_max(const Settings& settings) {
    return settings.iso20022 ? 999'999'999'999'999 : 999'999'999'999;
}

pawl::bank::CreditTransfer transfer_of(const Payment& payment) {
    return {
        .end_to_end_id = payment.end_to_end_id,
        .amount = payment.amount,
        .creditor_name = payment.creditor_name,
        .creditor_account = payment.creditor_account,
        .remittance = payment.reference};
}

pawl::bank::AchCredit credit_of(const Payment& payment) {
    return {
        .individual_id = payment.end_to_end_id,
        .name = payment.creditor_name,
        .routing_number = payment.routing_number.value_or(""),
        .account_number = payment.creditor_account,
        .cents = payment.amount};
}

template <class Line, class Make>
std::vector<Line> lines_of(std::span<const Payment> payments, Make make) {
    std::vector<Line> lines;
    lines.reserve(payments.size());
    std::transform(payments.begin(), payments.end(), std::back_inserter(lines), make);
    return lines;
}

}  // namespace

std::string BankFormat::write(const FileFacts& facts, std::span<const Payment> payments) const {
    const auto execution_date =
        date_of(facts.created_at + std::chrono::days{settings_.execution_in_days});
    if (const auto& iso = settings_.iso20022)
        return pawl::bank::write_pain001(
            {.message_id = "PAYOUTS-" + eight_digits(facts.number),
             .created_at = facts.created_at,
             .execution_date = execution_date,
             .debtor_name = iso->debtor_name,
             .debtor_account = iso->debtor_account,
             .debtor_bic = iso->debtor_bic.value_or(""),
             .currency = iso->currency},
            lines_of<pawl::bank::CreditTransfer>(payments, &transfer_of)
        );
    const auto& nacha = *settings_.nacha;
    return pawl::bank::write_nacha(
        {.destination = nacha.destination,
         .origin = nacha.origin,
         .destination_name = nacha.destination_name,
         .origin_name = nacha.origin_name,
         .company_name = nacha.company_name,
         .company_id = nacha.company_id,
         .description = nacha.description,
         .created_at = facts.created_at,
         .effective_date = execution_date,
         .file_id_modifier = modifiers.at(static_cast<std::size_t>(facts.number_of_day - 1)),
         .reference_code = eight_digits(facts.number)},
        lines_of<pawl::bank::AchCredit>(payments, &credit_of)
    );
}

std::optional<std::string> BankFormat::problem(const Payment& payment) const {
    if (payment.currency != currency()) return "currency: Must be " + currency() + ".";
    if (payment.amount > sum_max(settings_) / payouts_max())
        return "amount: Must be at most " + std::to_string(sum_max(settings_) / payouts_max()) +
               ", so that a full file has a control sum.";
    if (settings_.iso20022 && payment.routing_number)
        return "routing_number: Must be left out; creditor_account is an IBAN.";
    try {
        (void)write({.number = 1, .number_of_day = 1}, {&payment, 1});
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return std::nullopt;
}

pawl::bank::ReadReport BankFormat::read(std::string_view bytes) const {
    return settings_.iso20022 ? pawl::bank::read_camt054(bytes)
                              : pawl::bank::read_nacha_returns(bytes);
}

std::string BankFormat::file_name(std::int64_t number) const {
    return "payouts-" + eight_digits(number) + (settings_.iso20022 ? ".xml" : ".ach");
}

std::string BankFormat::currency() const {
    return settings_.iso20022 ? settings_.iso20022->currency : "USD";
}

std::int64_t BankFormat::files_a_day_max() const {
    return settings_.iso20022 ? std::numeric_limits<std::int64_t>::max()
                              : static_cast<std::int64_t>(modifiers.size());
}

}  // namespace payouts
