#include "src/store/postgres/sharing_rule.hpp"

#include <gtest/gtest.h>

namespace pawl::postgres {

namespace {

using namespace std::chrono_literals;

constexpr char first_kind{};
constexpr char other_kind{};
constexpr SharingRule::Moment start{1h};

}  // namespace

TEST(SharingRuleTest, works_without_a_kind_never_share) {
    SharingRule rule{2};

    EXPECT_FALSE(rule.allows(nullptr, start));
    EXPECT_TRUE(rule.allows(&first_kind, start));
}

TEST(SharingRuleTest, after_one_broke_up_one_connection_shares_and_after_another_none) {
    SharingRule rule{2};
    EXPECT_EQ(rule.connections(start), 2);

    rule.split(start);
    EXPECT_EQ(rule.connections(start), 1);
    EXPECT_TRUE(rule.allows(&first_kind, start));

    rule.split(start + 1ms);
    EXPECT_EQ(rule.connections(start + 1ms), 0);
    EXPECT_FALSE(rule.allows(&first_kind, start + 1ms));
}

TEST(SharingRuleTest, after_the_pauses_first_one_and_then_all_share_again) {
    SharingRule rule{3};

    rule.split(start);
    rule.split(start);

    EXPECT_EQ(rule.connections(start + 24ms), 0);
    EXPECT_EQ(rule.connections(start + 25ms), 1);
    EXPECT_EQ(rule.connections(start + 25ms + 49ms), 1);
    EXPECT_EQ(rule.connections(start + 25ms + 50ms), 3);
}

TEST(SharingRuleTest, each_time_it_pauses_for_longer_up_to_a_bound) {
    SharingRule rule{1};
    auto now = start;
    auto last = 0ms;

    for (int i = 0; i < 20; ++i) {
        rule.split(now);
        auto pause = 0ms;
        while (rule.connections(now + pause) == 0) pause += 1ms;
        EXPECT_GE(pause, last);
        last = pause;
        now += pause;
    }

    EXPECT_EQ(last, 5s);
}

TEST(SharingRuleTest, successful_transactions_shorten_the_pause) {
    SharingRule rule{1};
    for (int i = 0; i < 20; ++i) rule.split(start);

    for (int i = 0; i < 100; ++i) rule.went_well();
    rule.split(start + 1h);

    EXPECT_EQ(rule.connections(start + 1h + 25ms), 1);
}

TEST(SharingRuleTest, when_off_no_work_shares) {
    EXPECT_FALSE(SharingRule{0}.allows(&first_kind, start));
}

TEST(SharingRuleTest, a_kind_that_was_slow_stays_apart_for_a_minute) {
    SharingRule rule{2};

    rule.keep_apart(&first_kind, start);

    EXPECT_FALSE(rule.allows(&first_kind, start));
    EXPECT_FALSE(rule.allows(&first_kind, start + 59s));
    EXPECT_TRUE(rule.allows(&other_kind, start));
    EXPECT_TRUE(rule.allows(&first_kind, start + 60s));
}

TEST(SharingRuleTest, a_kind_of_which_one_threw_needs_a_savepoint_for_a_minute) {
    SharingRule rule{2};

    rule.threw(&first_kind, start);

    EXPECT_TRUE(rule.allows(&first_kind, start));
    EXPECT_TRUE(rule.needs_savepoint(&first_kind, start + 59s));
    EXPECT_FALSE(rule.needs_savepoint(&other_kind, start));
    EXPECT_FALSE(rule.needs_savepoint(&first_kind, start + 60s));
}

}  // namespace pawl::postgres
