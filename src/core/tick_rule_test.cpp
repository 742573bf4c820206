#include "src/core/tick_rule.hpp"

#include <gtest/gtest.h>

namespace pawl::core::tick_rule_test {
namespace {

using namespace std::chrono_literals;

const TimePoint midnight{std::chrono::sys_days{std::chrono::year{2027} / 1 / 15}};
const Cron hourly = std::get<Cron>(parse_cron("0 * * * *"));
const TimeZone utc{};

TickDecision decide(TimePoint stored, TimePoint now, bool skip_missed = false) {
    return decide_tick(hourly, utc, skip_missed, stored, now);
}

}  // namespace

TEST(TickRuleTest, a_tick_that_is_ahead_is_waited_for) {
    const auto decision = decide(midnight + 1h, midnight + 1h - 1ms);

    EXPECT_FALSE(decision.advance);
    EXPECT_FALSE(decision.run);
    EXPECT_EQ(decision.next_at, midnight + 1h);
}

TEST(TickRuleTest, a_tick_that_is_due_is_run_and_the_next_one_is_ahead) {
    const auto decision = decide(midnight + 1h, midnight + 1h);

    EXPECT_TRUE(decision.advance);
    EXPECT_EQ(decision.run, midnight + 1h);
    EXPECT_EQ(decision.next_at, midnight + 2h);
}

TEST(TickRuleTest, missed_ticks_are_run_once_as_the_first_of_them) {
    const auto decision = decide(midnight, midnight + 5h + 30min);

    EXPECT_EQ(decision.run, midnight);
    EXPECT_EQ(decision.next_at, midnight + 6h);
}

TEST(TickRuleTest, missed_ticks_are_skipped_if_the_schedule_says_so) {
    const auto decision = decide(midnight, midnight + 5h + 30min, true);

    EXPECT_TRUE(decision.advance);
    EXPECT_FALSE(decision.run);
    EXPECT_EQ(decision.next_at, midnight + 6h);
}

TEST(TickRuleTest, a_tick_of_the_last_minute_was_not_missed) {
    EXPECT_EQ(decide(midnight + 1h, midnight + 1h + 59s, true).run, midnight + 1h);
    EXPECT_EQ(decide(midnight, midnight + 5h + 59s, true).run, midnight + 5h);
    EXPECT_EQ(decide(midnight + 1h, midnight + 1h + 60s, true).run, std::nullopt);
}

TEST(TickRuleTest, a_clock_that_was_set_back_by_less_than_a_day_runs_no_tick_twice) {
    const auto decision = decide(midnight + 24h, midnight + 1h);

    EXPECT_FALSE(decision.advance);
    EXPECT_EQ(decision.next_at, midnight + 24h);
}

TEST(TickRuleTest, a_tick_that_a_wrong_clock_wrote_is_replaced) {
    const auto decision = decide(midnight + 24h * 365, midnight + 30min);

    EXPECT_TRUE(decision.advance);
    EXPECT_FALSE(decision.run);
    EXPECT_EQ(decision.next_at, midnight + 1h);
}

}  // namespace pawl::core::tick_rule_test
