#include "src/store/postgres/sharing_rule.hpp"

#include <gtest/gtest.h>

namespace pawl::postgres {

namespace {

using namespace std::chrono_literals;

constexpr char a_kind{};
constexpr char other_kind{};
constexpr SharingRule::Moment start{1h};

}  // namespace

TEST(SharingRuleTest, what_has_no_kind_never_shares) {
    SharingRule rule;

    EXPECT_FALSE(rule.allows(nullptr, start));
    EXPECT_TRUE(rule.allows(&a_kind, start));
}

TEST(SharingRuleTest, it_pauses_longer_each_time_that_one_breaks_up) {
    SharingRule rule;
    auto now = start;
    auto last = 0ms;

    for (int i = 0; i < 20; ++i) {
        rule.broke_up(now);
        auto pause = 0ms;
        while (!rule.allows(&a_kind, now + pause)) pause += 1ms;
        EXPECT_GE(pause, last);
        EXPECT_LE(pause, 5s);
        last = pause;
        now += pause;
    }

    EXPECT_EQ(last, 5s);
}

TEST(SharingRuleTest, and_forgets_it_as_others_go_well) {
    SharingRule rule;
    for (int i = 0; i < 20; ++i) rule.broke_up(start);

    for (int i = 0; i < 100; ++i) rule.went_well();
    rule.broke_up(start);

    EXPECT_TRUE(rule.allows(&a_kind, start + 25ms));
}

TEST(SharingRuleTest, a_kind_that_was_slow_stays_apart_for_a_minute) {
    SharingRule rule;

    rule.was_slow(&a_kind, start);

    EXPECT_FALSE(rule.allows(&a_kind, start));
    EXPECT_FALSE(rule.allows(&a_kind, start + 59s));
    EXPECT_TRUE(rule.allows(&other_kind, start));
    EXPECT_TRUE(rule.allows(&a_kind, start + 60s));
}

}  // namespace pawl::postgres
