#include "src/bank/amount.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace pawl::bank {

namespace {

constexpr std::array<std::string_view, 17> without_decimals{
    "BIF",
    "CLP",
    "DJF",
    "GNF",
    "ISK",
    "JPY",
    "KMF",
    "KRW",
    "PYG",
    "RWF",
    "UGX",
    "UYI",
    "VND",
    "VUV",
    "XAF",
    "XOF",
    "XPF"};
constexpr std::array<std::string_view, 7> with_three{
    "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};
constexpr std::size_t digits_max = 18;  // So that every amount fits 64 bits.

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

int decimals_of(std::string_view currency) {
    if (std::find(without_decimals.begin(), without_decimals.end(), currency) !=
        without_decimals.end())
        return 0;
    return std::find(with_three.begin(), with_three.end(), currency) == with_three.end() ? 2 : 3;
}

std::string amount_text(std::int64_t units, std::string_view currency) {
    auto text = std::to_string(units);
    const auto decimals = static_cast<std::size_t>(decimals_of(currency));
    if (decimals == 0) return text;
    if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
    text.insert(text.size() - decimals, 1, '.');
    return text;
}

std::optional<std::int64_t> amount_of(std::string_view text, std::string_view currency) {
    const auto point = std::min(text.find('.'), text.size());
    std::string digits{text.substr(0, point)};
    std::string_view rest = text.substr(std::min(point + 1, text.size()));
    if (digits.empty() || !all_digits(digits) || !all_digits(rest)) return std::nullopt;
    const auto decimals = static_cast<std::size_t>(decimals_of(currency));
    while (rest.size() > decimals && rest.back() == '0') rest.remove_suffix(1);
    if (rest.size() > decimals) return std::nullopt;
    digits.append(rest).append(decimals - rest.size(), '0');
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    if (digits.size() > digits_max) return std::nullopt;
    std::int64_t units = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), units);
    return units;
}

}  // namespace pawl::bank
