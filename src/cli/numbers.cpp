#include "src/cli/numbers.hpp"

#include "src/base/time_text.hpp"
#include "src/cli/output.hpp"
#include "src/core/ascii.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

namespace pawl {

std::string check_decimal(const std::string& text) {
    const auto digits = std::string_view{text}.substr(text.starts_with('-') ? 1 : 0);
    const bool well = !digits.empty() && (digits.front() != '0' || digits.size() == 1) &&
                      core::are_digits(digits);
    return well ? "" : "\"" + text + "\" is not a number: digits without a leading 0";
}

std::optional<std::chrono::hours> parse_hours(const std::string& text) {
    auto age = text;
    if (!cli::age_to_seconds(age).empty()) return std::nullopt;
    const std::chrono::seconds given{std::stoll(age)};
    const auto hours = std::chrono::duration_cast<std::chrono::hours>(given);
    return hours == given ? std::optional{hours} : std::nullopt;
}

namespace cli {

namespace {

constexpr std::string_view units{"smhd"};
constexpr std::array<std::int64_t, units.size()> seconds_in{1, 60, 3'600, 86'400};
// Larger ages overflow in milliseconds, and a filter for old jobs would then select all.
constexpr std::int64_t age_max_s = 100LL * 365 * 86'400;

std::optional<std::int64_t> natural(std::string_view text) {
    std::int64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < 0) return std::nullopt;
    return value;
}

}  // namespace

void check_all_decimal(CLI::App& app) {
    for (auto* option : app.get_options())
        if (option->get_type_name() == "INT" || option->get_type_name() == "UINT")
            option->check(check_decimal);
}

std::string age_to_seconds(std::string& text) {
    const auto unit = text.empty() ? units.npos : units.find(text.back());
    const auto count = unit == units.npos
                           ? std::nullopt
                           : natural(std::string_view{text}.substr(0, text.size() - 1));
    if (!count) return "\"" + text + "\" is not an age: write 30s, 15m, 2h or 3d";
    if (*count > age_max_s / seconds_in[unit]) return text + " is more than a hundred years";
    text = std::to_string(*count * seconds_in[unit]);
    return "";
}

TimePoint time_option(std::string_view name, const std::string& text, TimePoint now) {
    if (const auto at = base::time_from_rfc3339(text)) return *at;
    auto age = text;
    if (age_to_seconds(age).empty()) return now - std::chrono::seconds{std::stoll(age)};
    throw UsageError{
        std::string{name} + " is " + text +
        ": a time such as 2026-11-21T04:30:00Z, or an age such as 2h"};
}

}  // namespace cli

}  // namespace pawl
