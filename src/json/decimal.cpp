#include "src/json/decimal.hpp"

#include <charconv>

namespace pawl::json {

namespace {

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

std::string decimal_text(std::int64_t units, int decimals) {
    auto text = std::to_string(units);
    const std::size_t sign = units < 0 ? 1 : 0;
    const auto digits = static_cast<std::size_t>(decimals);
    if (text.size() < sign + digits + 1) text.insert(sign, sign + digits + 1 - text.size(), '0');
    if (decimals > 0) text.insert(text.size() - digits, 1, '.');
    return text;
}

std::optional<std::int64_t> decimal_from_text(std::string_view text, int decimals) {
    const bool negative = text.starts_with('-');
    const auto amount = text.substr(negative ? 1 : 0);
    const auto point = amount.find('.');
    const auto whole = amount.substr(0, point);
    const auto part = point == amount.npos ? std::string_view{} : amount.substr(point + 1);
    if (!is_digits(whole) || (point != amount.npos && !is_digits(part))) return std::nullopt;
    if (whole.size() > 1 && whole.front() == '0') return std::nullopt;
    if (part.size() > static_cast<std::size_t>(decimals)) return std::nullopt;
    auto digits = (negative ? "-" : "") + std::string{whole} + std::string{part};
    digits.append(static_cast<std::size_t>(decimals) - part.size(), '0');
    std::int64_t units{};
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, units);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return units;
}

}  // namespace pawl::json
