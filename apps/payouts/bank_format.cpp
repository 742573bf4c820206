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
std::vector<Line> lines_of(const BankFormat& format, std::span<const Payment> payments, Make make) {
    std::vector<Line> lines;
    lines.reserve(payments.size());
    for (const auto& payment : payments) lines.push_back(make(format.as_sent(payment)));
    return lines;
}

pawl::bank::CharacterSet characters_of(const Settings& settings) {
    if (settings.nacha) return pawl::bank::CharacterSet::ascii;
    return settings.iso20022->characters == "xml" ? pawl::bank::CharacterSet::xml
                                                  : pawl::bank::CharacterSet::epc217;
}

bool transliterates(const Settings& settings) {
    const auto chosen =
        settings.nacha ? settings.nacha->transliterate : settings.iso20022->transliterate;
    return chosen.value_or(false);
}

// No file of NACHA has it, but the database and the answers do.
bool is_plain_reference(std::string_view text) {
    constexpr std::size_t bytes_max = 140;
    return text.size() <= bytes_max &&
           std::ranges::none_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
}

// The writers name fields as the standards do.
std::string named_as_in_request(std::string why) {
    struct Field {
        std::string_view standard;
        std::string_view ours;
    };
    for (const auto& [standard, ours] :
         {Field{"remittance ", "reference "},
          Field{"name ", "creditor_name "},
          Field{"account_number ", "creditor_account "},
          Field{"cents ", "amount "}})
        if (why.starts_with(standard)) return why.replace(0, standard.size(), ours);
    return why;
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
             .currency = iso->currency,
             .characters = characters_of(settings_)},
            lines_of<pawl::bank::CreditTransfer>(*this, payments, &transfer_of)
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
        lines_of<pawl::bank::AchCredit>(*this, payments, &credit_of)
    );
}

std::optional<std::string> BankFormat::problem(const Payment& payment) const {
    if (payment.currency != currency()) return "currency: Must be " + currency() + ".";
    if (payment.amount > sum_max(settings_) / payouts_max())
        return "amount: Must be at most " + std::to_string(sum_max(settings_) / payouts_max()) +
               ", so that a full file has a control sum.";
    if (settings_.iso20022 && payment.routing_number)
        return "routing_number: Must be left out; creditor_account is an IBAN.";
    if (settings_.nacha && !is_plain_reference(payment.reference))
        return "reference: Must have at most 140 bytes, and no control characters.";
    try {
        (void)write({.number = 1, .number_of_day = 1}, {&payment, 1});
    } catch (const std::invalid_argument& wrong) {
        return named_as_in_request(wrong.what());
    }
    return std::nullopt;
}

Payment BankFormat::as_sent(Payment payment) const {
    if (!transliterates(settings_)) return payment;
    const auto set = characters_of(settings_);
    payment.creditor_name = pawl::bank::transliterated(payment.creditor_name, set);
    payment.reference = pawl::bank::transliterated(payment.reference, set);
    return payment;
}

std::optional<std::string> BankFormat::settings_problem() const {
    const auto& iso = settings_.iso20022;
    const Payment any{
        .end_to_end_id = "1",
        .amount = 1,
        .currency = currency(),
        .creditor_name = "Jane",
        .creditor_account = iso ? iso->debtor_account : "1",
        .routing_number = iso ? std::nullopt : std::optional{settings_.nacha->destination},
        .reference = ""};
    try {
        (void)write({.number = 1, .number_of_day = 1}, {&any, 1});
    } catch (const std::invalid_argument& wrong) {
        return (iso ? "iso20022: " : "nacha: ") + std::string{wrong.what()};
    }
    return std::nullopt;
}

pawl::bank::ReadReport BankFormat::read(std::string_view bytes) const {
    if (settings_.nacha) return pawl::bank::read_nacha_returns(bytes);
    auto read = pawl::bank::read_camt054(bytes);
    auto* report = std::get_if<pawl::bank::Report>(&read);
    auto& numbers =
        report != nullptr ? report->numbers : std::get<pawl::bank::ReportProblem>(read).numbers;
    // The series of another account of ours begins where it is first seen.
    for (auto& one : numbers)
        if (pawl::bank::is_iban(one.series) && one.series != settings_.iso20022->debtor_account)
            one.first = one.number;
    return read;
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
