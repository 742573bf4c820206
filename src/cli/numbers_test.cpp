#include "src/cli/numbers.hpp"

#include "src/cli/output.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace pawl::cli {
namespace {

// Empty: not an age.
std::string seconds_of(std::string text) {
    return age_to_seconds(text).empty() ? text : "";
}

TEST(Age, is_a_number_and_a_unit) {
    EXPECT_EQ(seconds_of("30s"), "30");
    EXPECT_EQ(seconds_of("15m"), "900");
    EXPECT_EQ(seconds_of("2h"), "7200");
    EXPECT_EQ(seconds_of("3d"), "259200");
    for (const auto* wrong : {"", "d", "5", "5w", "-1d", "+1d", "1.5h", "0x10d", " 1d", "1 d"})
        EXPECT_EQ(seconds_of(wrong), "") << wrong;
}

// Before, CLI11 read it as eight (tests/fuzz/dead_filter.cpp, input ten_days).
TEST(Age, of_010_days_is_ten) {
    EXPECT_EQ(seconds_of("010d"), "864000");
}

// Before, the age overflowed into a future time, and a purge of the oldest purged all
// (tests/fuzz/dead_filter.cpp, input longest_age).
TEST(Age, of_more_than_a_hundred_years_is_refused) {
    EXPECT_EQ(seconds_of("36500d"), "3153600000");
    for (const auto* wrong :
         {"36501d", "106751991168d", "9223372036854775807s", "9223372036854775808s"})
        EXPECT_EQ(seconds_of(wrong), "") << wrong;
}

TEST(Hours, are_an_age_of_whole_hours) {
    EXPECT_EQ(parse_hours("72h"), std::chrono::hours{72});
    EXPECT_EQ(parse_hours("400d"), std::chrono::hours{9'600});
    EXPECT_EQ(parse_hours("120m"), std::chrono::hours{2});
    for (const auto* wrong : {"", "72", "90m", "1s", "-1h", "1w", "36501d"})
        EXPECT_EQ(parse_hours(wrong), std::nullopt) << wrong;
}

TEST(Decimal, has_no_leading_zero_and_no_other_base) {
    for (const auto* well : {"0", "7", "10", "-3", "9223372036854775807"})
        EXPECT_EQ(check_decimal(well), "") << well;
    for (const auto* wrong : {"", "-", "010", "0x10", "1e3", " 1", "1 ", "-01", "seven"})
        EXPECT_NE(check_decimal(wrong), "") << wrong;
}

// Before, `keys list` knew ages and no offsets, `keys hold` both, and `reconcile` neither.
TEST(TimeOption, is_a_time_or_an_age) {
    using namespace std::chrono_literals;
    const TimePoint now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 5h};
    for (const auto* well :
         {"2h",
          "7200s",
          "2026-11-21T03:00:00Z",
          "2026-11-21T03:00:00.000Z",
          "2026-11-21T04:00:00+01:00"})
        EXPECT_EQ(time_option("--since", well, now), now - 2h) << well;
    for (const auto* wrong : {"", "2x", "x", "2026-11-21", "2026-11-21 03:00:00", "-2h", "36501d"})
        EXPECT_THROW(time_option("--since", wrong, now), UsageError) << wrong;
}

}  // namespace
}  // namespace pawl::cli
