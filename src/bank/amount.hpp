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

// Amounts as files write them, in 100,000ths: ISO 20022 allows five decimals.
inline constexpr std::int64_t parts_of_one = 100'000;
// So that a sum and one more amount, which is below 10^18, fit 64 bits.
inline constexpr std::int64_t parts_sum_max = 4'000'000'000'000'000'000;
// A decimal of XML Schema: perhaps with a sign, with no digit before or behind the point, with
// zeros and white space around it. nullopt: it is none, has six decimals or over 13 digits before
// them.
std::optional<std::int64_t> decimal_parts(std::string_view text);
// The same without decimals: "7", "+007", "7.0".
std::optional<std::int64_t> whole_number(std::string_view text);
// nullopt: a part of the currency's smallest unit.
std::optional<std::int64_t> units_of(std::int64_t parts, std::string_view currency);
// 1,250,000 parts are "12.5".
std::string parts_text(std::int64_t parts);

}  // namespace pawl::bank
