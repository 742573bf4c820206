#include "src/bank/amount.hpp"

#include "src/bank/xml_reader.hpp"
#include "src/core/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace pawl::bank {

namespace {

constexpr std::string_view without_decimals =
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
constexpr std::string_view with_three = "BHD IQD JOD KWD LYD OMR TND";
constexpr std::size_t digits_max = 18;  // So that every amount fits 64 bits.

constexpr std::size_t decimals_max = 5;

struct DecimalText {
    bool negative{};
    std::string_view digits;    // Without zeros before them; may be empty.
    std::string_view decimals;  // Without zeros behind them.
};
std::optional<DecimalText> read_decimal(std::string_view text) {
    text = trimmed_text(text);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const auto point = std::min(text.find('.'), text.size());
    auto digits = text.substr(0, point);
    auto decimals = text.substr(std::min(point + 1, text.size()));
    if ((digits.empty() && decimals.empty()) || !core::are_digits(digits) ||
        !core::are_digits(decimals))
        return std::nullopt;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    decimals = decimals.substr(0, decimals.find_last_not_of('0') + 1);
    return DecimalText{negative, digits, decimals};
}

std::optional<std::int64_t> signed_value(std::string_view digits, bool negative) {
    if (digits.size() > digits_max) return std::nullopt;
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return negative ? -value : value;
}

}  // namespace

int decimals_of(std::string_view currency) {
    if (core::has_word(without_decimals, currency)) return 0;
    return core::has_word(with_three, currency) ? 3 : 2;
}

std::string amount_text(std::int64_t units, std::string_view currency) {
    auto text = std::to_string(units);
    const auto decimals = static_cast<std::size_t>(decimals_of(currency));
    if (decimals == 0) return text;
    if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
    text.insert(text.size() - decimals, 1, '.');
    return text;
}

std::optional<std::int64_t> decimal_parts(std::string_view text) {
    const auto number = read_decimal(text);
    if (!number || number->decimals.size() > decimals_max) return std::nullopt;
    std::string digits{number->digits};
    digits.append(number->decimals).append(decimals_max - number->decimals.size(), '0');
    return signed_value(digits, number->negative);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    const auto number = read_decimal(text);
    if (!number || !number->decimals.empty()) return std::nullopt;
    return signed_value(number->digits, number->negative);
}

std::optional<std::int64_t> units_of(std::int64_t parts, std::string_view currency) {
    auto parts_of_unit = parts_of_one;
    for (int i = decimals_of(currency); i > 0; --i) parts_of_unit /= 10;
    if (parts % parts_of_unit != 0) return std::nullopt;
    return parts / parts_of_unit;
}

std::string parts_text(std::int64_t parts) {
    std::string decimals = std::to_string(parts_of_one + std::abs(parts % parts_of_one));
    decimals.front() = '.';
    decimals.erase(decimals.find_last_not_of('0') + 1);
    if (decimals == ".") decimals.clear();
    const bool small_negative = parts < 0 && parts > -parts_of_one;
    return (small_negative ? "-" : "") + std::to_string(parts / parts_of_one) + decimals;
}

}  // namespace pawl::bank
