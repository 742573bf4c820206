#include "src/engine/provider_watch.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::engine {
namespace {

TEST(ProviderWatch, is_down_once_after_failures_in_a_row_and_up_at_the_next_answer) {
    ProviderWatch watch;

    for (int i = 1; i < ProviderWatch::failures_max; ++i)
        EXPECT_EQ(watch.ended("stripe", false), ProviderChange::none);
    EXPECT_EQ(watch.ended("stripe", false), ProviderChange::down);
    for (int i = 0; i < 2'060; ++i) EXPECT_EQ(watch.ended("stripe", false), ProviderChange::none);
    EXPECT_TRUE(watch.any_failing());
    EXPECT_EQ(watch.ended("stripe", true), ProviderChange::up);
    EXPECT_EQ(watch.ended("stripe", true), ProviderChange::none);
    EXPECT_FALSE(watch.any_failing());
}

TEST(ProviderWatch, an_answer_in_between_begins_the_count_anew) {
    ProviderWatch watch;

    for (int round = 0; round < 3; ++round) {
        for (int i = 1; i < ProviderWatch::failures_max; ++i)
            EXPECT_EQ(watch.ended("stripe", false), ProviderChange::none);
        EXPECT_EQ(watch.ended("stripe", true), ProviderChange::none);
    }
}

TEST(ProviderWatch, counts_each_provider_apart) {
    ProviderWatch watch;

    for (int i = 1; i < ProviderWatch::failures_max; ++i) {
        watch.ended("a", false);
        watch.ended("b", false);
    }
    EXPECT_EQ(watch.ended("a", false), ProviderChange::down);
    EXPECT_EQ(watch.ended("b", true), ProviderChange::none);
    EXPECT_EQ(watch.ended("a", true), ProviderChange::up);
}

// PawlProviderDown could not fire without a router: only the log said so (issue 21).
TEST(ProviderWatch, lists_who_is_down_since_when_and_why_until_nobody_calls_it_any_more) {
    ProviderWatch watch;
    const TimePoint began{std::chrono::hours{500'000}};
    for (int i = 0; i <= ProviderWatch::failures_max; ++i) {
        EXPECT_TRUE(i >= ProviderWatch::failures_max || watch.down(began).empty());
        watch.ended(
            "stripe", false, began + std::chrono::seconds{i}, "refused " + std::to_string(i)
        );
    }

    const auto down = watch.down(began + ProviderWatch::forgotten_after);
    ASSERT_EQ(down.size(), 1U);
    EXPECT_EQ(down[0].target, "stripe");
    EXPECT_EQ(down[0].down_since, began + std::chrono::seconds{ProviderWatch::failures_max - 1});
    EXPECT_EQ(down[0].last_error, "refused 5");
    EXPECT_TRUE(watch.down(began + 2 * ProviderWatch::forgotten_after).empty());
    watch.ended("stripe", true);
    EXPECT_TRUE(watch.down(began).empty());
}

TEST(ProviderWatch, stays_small_however_many_targets_fail) {
    ProviderWatch watch;
    for (int i = 0; i < 1'000; ++i) watch.ended("receiver " + std::to_string(i), false);

    for (int i = 0; i < 2 * ProviderWatch::failures_max; ++i)
        EXPECT_EQ(watch.ended("one too many", false), ProviderChange::none);
    for (int i = 0; i < 1'000; ++i) watch.ended("receiver " + std::to_string(i), true);
    EXPECT_FALSE(watch.any_failing());
}

}  // namespace
}  // namespace pawl::engine
