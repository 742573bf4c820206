#include "apps/payouts/sent_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

namespace payouts {

namespace {

struct Control {
    std::int64_t payouts{-1};
    std::int64_t amount{-1};
};

// Only digits, and a decimal point, which minor units leave out. -1: it is no number.
std::int64_t number_of(std::string_view text) {
    std::string digits{text};
    std::erase(digits, '.');
    std::int64_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc{} && last == end ? number : -1;
}

// Takes `text` from behind the next `begin` up to `end`, and goes on there; nullopt: there is none.
std::optional<std::string_view> take_between(
    std::string_view& text, std::string_view begin, std::string_view end
) {
    const auto at = text.find(begin);
    if (at == text.npos) return std::nullopt;
    text.remove_prefix(at + begin.size());
    const auto length = text.find(end);
    if (length == text.npos) return std::nullopt;
    const auto found = text.substr(0, length);
    text.remove_prefix(length);
    return found;
}

// The writer of pain.001 puts no blank between elements, and each payment has these two.
Control read_pain001(std::string_view bytes, const std::string& currency, SentFile& into) {
    Control control;
    if (const auto count = take_between(bytes, "<NbOfTxs>", "<"))
        control.payouts = number_of(*count);
    if (const auto sum = take_between(bytes, "<CtrlSum>", "<")) control.amount = number_of(*sum);
    const auto amount_begin = "<InstdAmt Ccy=\"" + currency + "\">";
    while (const auto id = take_between(bytes, "<EndToEndId>", "<")) {
        const auto amount = take_between(bytes, amount_begin, "<");
        into.payouts.push_back({std::string{*id}, amount ? number_of(*amount) : -1});
    }
    return control;
}

Control read_nacha(std::string_view bytes, SentFile& into) {
    constexpr std::size_t record_size = 94;
    Control control;
    for (; bytes.size() > record_size; bytes.remove_prefix(record_size + 1)) {
        const auto record = bytes.substr(0, record_size);
        if (record[0] == '6') {
            auto id = record.substr(39, 15);
            id.remove_suffix(id.size() - std::min(id.size(), id.find_last_not_of(' ') + 1));
            into.payouts.push_back({std::string{id}, number_of(record.substr(29, 10))});
        }
        // A record of nines fills the last block.
        if (record[0] == '9' && record.find_first_not_of('9') != record.npos)
            control = {number_of(record.substr(13, 8)), number_of(record.substr(43, 12))};
    }
    return control;
}

}  // namespace

SentFile read_sent_file(const BankFormat& format, const std::string& name, std::string bytes) {
    SentFile file;
    file.name = std::filesystem::path{name}.filename().string();
    std::string_view rest{file.name};
    const auto number = take_between(rest, "payouts-", ".");
    file.number = number ? number_of(*number) : -1;
    if (file.number < 1 || file.name != format.file_name(file.number))
        throw std::invalid_argument{
            name + ": a file of these payouts is named as " + format.file_name(42)};
    const auto control =
        format.is_nacha() ? read_nacha(bytes, file) : read_pain001(bytes, format.currency(), file);
    for (const auto& payout : file.payouts) {
        if (payout.amount < 0)
            throw std::invalid_argument{
                name + ": " + payout.end_to_end_id + " has no amount in " + format.currency()};
        file.amount += payout.amount;
    }
    if (file.payouts.empty() || control.payouts != std::ssize(file.payouts) ||
        control.amount != file.amount)
        throw std::invalid_argument{
            name + ": its payouts differ from its control sums: it is not the file that was sent"};
    file.bytes = std::move(bytes);
    return file;
}

}  // namespace payouts
