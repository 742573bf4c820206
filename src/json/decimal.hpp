#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::json {

// 1234 with 2 decimals is "12.34"; decimals is 0 to 18.
std::string decimal_text(std::int64_t units, int decimals);
// nullopt: another form (a sign +, an exponent, spaces, superfluous zeros in front), more decimals,
// or out of range.
std::optional<std::int64_t> decimal_from_text(std::string_view text, int decimals);

}  // namespace pawl::json
