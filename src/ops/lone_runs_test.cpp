#include "src/ops/lone_runs.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace pawl::ops::lone_runs_test {

namespace {

using namespace std::chrono_literals;
using Turn = LoneRuns::Turn;

class LoneRunsTest : public ::testing::Test {
protected:
    base::StillClock clock;
    LoneRuns runs{clock};
};

}  // namespace

TEST_F(LoneRunsTest, who_can_not_be_alone_in_time_lets_others_begin_again) {
    const Turn other{runs};
    ASSERT_TRUE(other.granted());
    Turn turn{runs};
    ASSERT_TRUE(turn.granted());

    EXPECT_EQ(turn.run_alone(1ms), Turn::Alone::others_run);

    EXPECT_TRUE(Turn{runs}.granted());
}

TEST_F(LoneRunsTest, who_wants_to_be_alone_waits_for_the_others_and_lets_none_begin) {
    std::optional<Turn> other;
    other.emplace(runs);
    auto alone = std::async(std::launch::async, [&] {
        Turn turn{runs};
        const auto result = turn.run_alone(20s);
        return std::pair{result, Turn{runs}.granted()};
    });
    while (Turn{runs}.granted()) std::this_thread::yield();  // Until it waits.

    other.reset();

    EXPECT_EQ(alone.get(), (std::pair{Turn::Alone::yes, false}));
    EXPECT_TRUE(Turn{runs}.granted());
}

TEST_F(LoneRunsTest, after_a_run_alone_others_have_as_much_time) {
    {
        Turn turn{runs};
        ASSERT_EQ(turn.run_alone(0ms), Turn::Alone::yes);
        clock.at += 5s;
    }
    clock.at += 5s - 1ms;
    EXPECT_EQ(Turn{runs}.run_alone(0ms), Turn::Alone::another_is);

    clock.at += 1ms;

    EXPECT_EQ(Turn{runs}.run_alone(0ms), Turn::Alone::yes);
    EXPECT_EQ(runs.age(), 10s);
}

}  // namespace pawl::ops::lone_runs_test
