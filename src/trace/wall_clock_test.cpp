#include "src/trace/wall_clock.hpp"

#include <gtest/gtest.h>

namespace pawl::trace {
namespace {

using namespace std::chrono_literals;

class SetClock final : public base::Clock {
public:
    TimePoint now() override { return wall; }
    std::chrono::steady_clock::time_point steady() override { return since_boot; }

    TimePoint wall{1'795'250'000'000ms};
    std::chrono::steady_clock::time_point since_boot{5s};
};

constexpr std::int64_t second = 1'000'000'000;

TEST(WallClock, times_keep_their_nanoseconds) {
    SetClock clock;
    WallClock wall{clock};

    EXPECT_EQ(wall.at(clock.since_boot), 1'795'250'000 * second);
    EXPECT_EQ(wall.at(clock.since_boot + 7ns), 1'795'250'000 * second + 7);
}

// now() has whole milliseconds.
TEST(WallClock, a_wall_clock_that_is_behind_by_a_millisecond_moves_nothing) {
    SetClock clock;
    WallClock wall{clock};
    clock.since_boot += 900us;

    EXPECT_EQ(wall.at(clock.since_boot), 1'795'250'000 * second + 900'000);
}

TEST(WallClock, a_wall_clock_that_was_set_is_followed) {
    SetClock clock;
    WallClock wall{clock};
    clock.wall += 1h;

    EXPECT_EQ(wall.at(clock.since_boot), (1'795'250'000 + 3'600) * second);
}

}  // namespace
}  // namespace pawl::trace
