#include "src/trace/wall_clock.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gtest/gtest.h>

namespace pawl::trace {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000'000;

TEST(WallClock, times_keep_their_nanoseconds) {
    base::StillClock clock;
    WallClock wall{clock};

    EXPECT_EQ(wall.at(clock.at), 1'700'000'000 * second);
    EXPECT_EQ(wall.at(clock.at + 7ns), 1'700'000'000 * second + 7);
}

// now() has whole milliseconds.
TEST(WallClock, a_wall_clock_that_is_behind_by_a_millisecond_moves_nothing) {
    base::StillClock clock;
    WallClock wall{clock};
    clock.at += 900us;

    EXPECT_EQ(wall.at(clock.at), 1'700'000'000 * second + 900'000);
}

TEST(WallClock, a_wall_clock_that_was_set_is_followed) {
    base::StillClock clock;
    WallClock wall{clock};
    clock.wall += 1h;

    EXPECT_EQ(wall.at(clock.at), (1'700'000'000 + 3'600) * second);
}

}  // namespace
}  // namespace pawl::trace
