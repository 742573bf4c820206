#include "src/core/breaker.hpp"

#include <gtest/gtest.h>

namespace pawl::core::breaker_test {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime start{1h};
constexpr BreakerRule rule{.failures_max = 3, .first = 1s, .longest = 5s, .probe_max = 10s};

Breaker failed(int times, SteadyTime at = start) {
    Breaker breaker;
    for (int i = 0; i < times; ++i) breaker = after_failure(rule, breaker, false, at, 0);
    return breaker;
}

bool passes(Breaker& breaker, SteadyTime now) {
    const auto way = decide_pass(rule, breaker, now);
    const auto* then = std::get_if<Breaker>(&way);
    if (then != nullptr) breaker = *then;
    return then != nullptr;
}

TEST(Breaker, opens_after_so_many_failures_in_a_row) {
    auto twice = failed(2);
    EXPECT_TRUE(passes(twice, start));

    auto open = failed(3);
    EXPECT_FALSE(passes(open, start));
    EXPECT_EQ(std::get<WaitForBreaker>(decide_pass(rule, open, start)).wait, 1s);
    EXPECT_EQ(std::get<WaitForBreaker>(decide_pass(rule, open, start + 999'500us)).wait, 1ms);
}

TEST(Breaker, then_one_probe_passes_and_nothing_else) {
    auto breaker = failed(3);

    EXPECT_TRUE(passes(breaker, start + 1s));
    EXPECT_FALSE(passes(breaker, start + 1s));
    EXPECT_EQ(std::get<WaitForBreaker>(decide_pass(rule, breaker, start + 1s)).wait, 1s);
}

TEST(Breaker, a_probe_that_fails_opens_it_for_twice_as_long_up_to_the_longest) {
    auto breaker = failed(3);
    auto at = start;
    for (const auto wait : {1s, 2s, 4s, 5s, 5s}) {
        EXPECT_FALSE(passes(breaker, at + wait - 1ms)) << wait.count();
        at += wait;
        ASSERT_TRUE(passes(breaker, at)) << wait.count();
        breaker = after_failure(rule, breaker, true, at, 0);
    }
}

TEST(Breaker, chance_adds_up_to_a_half) {
    Breaker breaker;
    for (int i = 0; i < 3; ++i) breaker = after_failure(rule, breaker, false, start, 0.999);

    EXPECT_EQ(std::get<WaitForBreaker>(decide_pass(rule, breaker, start)).wait, 1500ms);
}

// Sent before it opened.
TEST(Breaker, failures_while_it_is_open_change_nothing) {
    auto breaker = failed(3);
    for (int i = 0; i < 50; ++i) breaker = after_failure(rule, breaker, false, start + 500ms, 0);
    EXPECT_EQ(std::get<WaitForBreaker>(decide_pass(rule, breaker, start + 500ms)).wait, 500ms);

    ASSERT_TRUE(passes(breaker, start + 1s));
    breaker = after_failure(rule, breaker, false, start + 1s, 0);
    EXPECT_EQ(breaker.probe_since, start + 1s);
}

TEST(Breaker, a_probe_that_never_ends_lets_another_go) {
    auto breaker = failed(3);
    ASSERT_TRUE(passes(breaker, start + 1s));

    EXPECT_FALSE(passes(breaker, start + 10s));
    EXPECT_TRUE(passes(breaker, start + 11s));
}

TEST(Breaker, never_opens_with_zero_failures_max) {
    Breaker breaker;
    for (int i = 0; i < 1'000; ++i)
        breaker = after_failure({.failures_max = 0}, breaker, false, start, 0);

    EXPECT_FALSE(breaker.is_open());
}

TEST(BreakerRule, names_an_option_out_of_its_limits) {
    EXPECT_EQ(BreakerRule{}.problem(), std::nullopt);
    EXPECT_EQ(
        BreakerRule{.failures_max = -1}.problem(),
        "failures_max is -1: 1 to 1000000, or 0 for never"
    );
    EXPECT_EQ(BreakerRule{.first = 0ms}.problem(), "first is 0 ms: at least 1 ms");
    EXPECT_EQ(
        BreakerRule{.longest = 999ms}.problem(), "longest is 999 ms: at least first, 1000 ms"
    );
    EXPECT_EQ(
        BreakerRule{.probe_max = 999ms}.problem(), "probe_max is 999 ms: at least first, 1000 ms"
    );
}

}  // namespace
}  // namespace pawl::core::breaker_test
