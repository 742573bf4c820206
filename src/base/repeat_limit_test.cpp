#include "src/base/repeat_limit.hpp"

#include <gtest/gtest.h>

namespace pawl::base {
namespace {

using namespace std::chrono_literals;

constexpr RepeatLimit::Time start{1h};

std::optional<std::int64_t> at(
    RepeatLimit& limit, std::chrono::milliseconds after, const std::string& subject = "s"
) {
    return limit.pass({"down", subject}, 1, start + after);
}

TEST(RepeatLimit, one_passes_in_a_window_and_the_next_window_says_how_many_were_held_back) {
    RepeatLimit limit;

    EXPECT_EQ(at(limit, 0s), 0);
    for (int i = 0; i < 137; ++i) EXPECT_EQ(at(limit, 1s), std::nullopt);
    EXPECT_EQ(at(limit, 9'999ms), std::nullopt);
    EXPECT_EQ(at(limit, 10s), 138);
    EXPECT_EQ(at(limit, 19'999ms), std::nullopt);
    EXPECT_EQ(at(limit, 20s), 1);
}

TEST(RepeatLimit, other_subjects_and_events_are_counted_apart) {
    RepeatLimit limit;

    EXPECT_EQ(at(limit, 0s, "a"), 0);
    EXPECT_EQ(at(limit, 0s, "b"), 0);
    EXPECT_EQ(limit.pass({"other", "a"}, 1, start), 0);
    EXPECT_EQ(at(limit, 1s, "a"), std::nullopt);
}

TEST(RepeatLimit, a_burst_passes_in_each_window) {
    RepeatLimit limit;
    const auto pass = [&](std::chrono::seconds after) {
        return limit.pass({"attention_added", ""}, 3, start + after);
    };

    for (int i = 0; i < 3; ++i) EXPECT_EQ(pass(0s), 0);
    EXPECT_EQ(pass(1s), std::nullopt);
    EXPECT_EQ(pass(10s), 1);
    EXPECT_EQ(pass(10s), 0);
}

TEST(RepeatLimit, a_window_that_is_over_reports_its_count_once) {
    RepeatLimit limit;
    EXPECT_EQ(at(limit, 0s, "held"), 0);
    EXPECT_EQ(at(limit, 1s, "held"), std::nullopt);
    EXPECT_EQ(at(limit, 0s, "alone"), 0);

    EXPECT_TRUE(limit.take_ended(start + 9s).empty());
    const auto ended = limit.take_ended(start + 10s);

    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(ended[0].what, (Repeatable{"down", "held"}));
    EXPECT_EQ(ended[0].count, 1);
    EXPECT_TRUE(limit.take_ended(start + 30s).empty());
    EXPECT_EQ(at(limit, 11s, "held"), 0) << "it was reported already";
}

TEST(RepeatLimit, at_a_stop_all_counts_are_reported) {
    RepeatLimit limit;
    EXPECT_EQ(at(limit, 0s), 0);
    EXPECT_EQ(at(limit, 0s), std::nullopt);

    const auto left = limit.take_all();

    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].count, 1);
}

TEST(RepeatLimit, of_very_many_subjects_none_is_lost_from_the_count) {
    RepeatLimit limit{{.known_max = 2}};
    EXPECT_EQ(at(limit, 0s, "a"), 0);
    EXPECT_EQ(at(limit, 0s, "b"), 0);

    EXPECT_EQ(at(limit, 0s, "c"), 0) << "the first of all others";
    EXPECT_EQ(at(limit, 0s, "d"), std::nullopt);
    EXPECT_EQ(at(limit, 0s, "a"), std::nullopt) << "it is known";

    const auto left = limit.take_all();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].what, (Repeatable{"down", ""}));
    EXPECT_EQ(left[0].count, 1);
}

}  // namespace
}  // namespace pawl::base
