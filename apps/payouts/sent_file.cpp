#include "apps/payouts/sent_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace payouts {

namespace {

// Eight digits, and the next number, too.
constexpr std::int64_t number_max = 99'999'998;

// Of digits, perhaps with a decimal point, which minor units leave out. -1: it is no number.
std::int64_t number_of(std::string_view text) {
    std::string digits{text};
    std::erase(digits, '.');
    std::int64_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc{} && last == end ? number : -1;
}

// What stands between the first `begin` and the next `end`; empty: nothing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
    const auto at = text.find(begin);
    if (at == text.npos) return {};
    text.remove_prefix(at + begin.size());
    return text.substr(0, text.find(end));
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
        text.replace(at, part.size(), by);
    return text;
}

// The text of an element, as the writer escapes it.
std::string text_within(std::string_view xml, std::string_view begin) {
    std::string text{between(xml, begin, "<")};
    for (const auto& [escaped, plain] :
         {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
        text = replaced(std::move(text), escaped, plain);
    return text;
}

std::string without_padding(std::string_view field) {
    return std::string{field.substr(0, field.find_last_not_of(' ') + 1)};
}

// Each returns the bytes that the writer makes of what it has read into `file`.
std::string rewritten_pain001(
    const Settings::Iso20022& ours,
    std::string_view bytes,
    const std::string& message_id,
    SentFile& file
) {
    constexpr std::string_view transfer_begin{"<CdtTrfTxInf>"};
    const auto head = bytes.substr(0, bytes.find(transfer_begin));
    std::vector<pawl::bank::CreditTransfer> transfers;
    for (auto rest = bytes.substr(head.size()); rest.starts_with(transfer_begin);) {
        const auto one = rest.substr(0, rest.find(transfer_begin, 1));
        rest.remove_prefix(one.size());
        transfers.push_back(
            {.end_to_end_id = text_within(one, "<EndToEndId>"),
             .amount = number_of(between(one, "<InstdAmt Ccy=\"" + ours.currency + "\">", "<")),
             .creditor_name = text_within(one, "<Cdtr><Nm>"),
             .creditor_account = text_within(one, "<CdtrAcct><Id><IBAN>"),
             .remittance = text_within(one, "<Ustrd>")}
        );
        const auto& read = transfers.back();
        file.payouts.push_back({read.end_to_end_id, read.amount, read.creditor_account});
    }
    const auto made = pawl::bank::write_pain001(
        {.message_id = message_id,
         .created_at = {},
         .execution_date = text_within(head, "<ReqdExctnDt><Dt>"),
         .debtor_name = text_within(head, "<InitgPty><Nm>"),
         .debtor_account = ours.debtor_account,
         .debtor_bic = text_within(head, "<BICFI>"),
         .currency = ours.currency,
         .characters = pawl::bank::CharacterSet::xml},
        transfers
    );
    return replaced(made, between(made, "<CreDtTm>", "<"), between(head, "<CreDtTm>", "<"));
}

std::string rewritten_nacha(
    const Settings::Nacha& ours,
    std::string_view bytes,
    const std::string& reference,
    SentFile& file
) {
    constexpr std::size_t line_size = 95;
    const auto field = [&](std::size_t line, std::size_t at, std::size_t size) {
        const auto from = line * line_size + at;
        return from < bytes.size() ? bytes.substr(from, size) : std::string_view{};
    };
    std::vector<pawl::bank::AchCredit> credits;
    for (std::size_t line = 2; field(line, 0, 1) == "6"; ++line) {
        credits.push_back(
            {.individual_id = without_padding(field(line, 39, 15)),
             .name = without_padding(field(line, 54, 22)),
             .routing_number = std::string{field(line, 3, 9)},
             .account_number = without_padding(field(line, 12, 17)),
             .cents = number_of(field(line, 29, 10))}
        );
        const auto& read = credits.back();
        file.payouts.push_back(
            {read.individual_id, read.cents, read.routing_number + "/" + read.account_number}
        );
    }
    const auto modifier = field(0, 33, 1);
    const auto date = std::string{field(1, 69, 6)};
    auto made = pawl::bank::write_nacha(
        {.destination = ours.destination,
         .origin = ours.origin,
         .destination_name = without_padding(field(0, 40, 23)),
         .origin_name = without_padding(field(0, 63, 23)),
         .company_name = without_padding(field(1, 4, 16)),
         .company_id = ours.company_id,
         .description = without_padding(field(1, 53, 10)),
         .created_at = {},
         .effective_date = date.size() == 6 ? "20" + date.substr(0, 2) + "-" + date.substr(2, 2) +
                                                  "-" + date.substr(4)
                                            : "",
         .file_id_modifier = modifier.empty() ? ' ' : modifier.front(),
         .reference_code = reference},
        credits
    );
    const auto created = field(0, 23, 10);
    return made.replace(23, created.size(), created);
}

std::string rewritten(const BankFormat& format, std::string_view bytes, SentFile& file) {
    const auto& settings = format.settings();
    const auto digits = std::string{between(file.name, "payouts-", ".")};
    return settings.iso20022
               ? rewritten_pain001(*settings.iso20022, bytes, "PAYOUTS-" + digits, file)
               : rewritten_nacha(*settings.nacha, bytes, digits, file);
}

}  // namespace

SentFile read_sent_file(const BankFormat& format, const std::string& name, std::string bytes) {
    SentFile file;
    file.name = std::filesystem::path{name}.filename().string();
    file.number = number_of(between(file.name, "payouts-", "."));
    if (file.number < 1 || file.number > number_max || file.name != format.file_name(file.number))
        throw std::invalid_argument{
            name + ": a file of these payouts is named as " + format.file_name(42)};
    std::string why;
    try {
        if (rewritten(format, bytes, file) != bytes) why = "its bytes are not those of such a file";
    } catch (const std::invalid_argument& wrong) {
        why = wrong.what();
    }
    std::set<std::string> ids;
    for (const auto& payout : file.payouts) {
        file.amount += payout.amount;
        if (!ids.insert(payout.end_to_end_id).second && why.empty())
            why = payout.end_to_end_id + " stands in it twice";
    }
    if (!why.empty())
        throw std::invalid_argument{
            name +
            ": it is not the file that was sent from this account under this number: " + why};
    file.bytes = std::move(bytes);
    return file;
}

}  // namespace payouts
