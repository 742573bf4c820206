#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::bank {

// Decimals of a currency's smallest unit (ISO 4217).
int decimals_of(std::string_view currency);

// 12345 EUR is "123.45"; `units` is not negative.
std::string amount_text(std::int64_t units, std::string_view currency);
// nullopt: not a decimal number, a part of the smallest unit, or over 18 digits.
std::optional<std::int64_t> amount_of(std::string_view text, std::string_view currency);

}  // namespace pawl::bank
