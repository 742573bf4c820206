#pragma once

#include <pawl/command_line.hpp>

#include <string>
#include <string_view>

namespace CLI {
class App;
}

// Checks of numbers for CLI11, which reads 010 as eight and 0x10 as sixteen: another key's number,
// or another age. Each returns the problem; empty: there is none.
namespace pawl::cli {

// Applies check_decimal to every whole-number option that `app` has so far.
void check_all_decimal(CLI::App& app);

// "30s", "15m", "2h" and "3d" become seconds; at most a hundred years.
std::string age_to_seconds(std::string& text);

// The value of an option that takes a time (RFC 3339), or an age before `now`: "2h". Throws
// UsageError.
TimePoint time_option(std::string_view name, const std::string& text, TimePoint now);

}  // namespace pawl::cli
