#include "src/queue/kafka/dead_letter_filter.hpp"

#include <gtest/gtest.h>

namespace pawl::queue::kafka {

namespace {

using namespace std::chrono_literals;

DeadLetter letter(const std::string& id, const std::string& kind, TimePoint died_at) {
    DeadLetter made;
    made.id = id;
    made.queue = "mails";
    made.kind = kind;
    made.error = "ride 17 is away";
    made.error_kind = "ride # is away";
    made.failures = 3;
    made.died_at = died_at;
    return made;
}

}  // namespace

TEST(LetterFilter, an_empty_filter_matches_all) {
    EXPECT_TRUE(matches({}, letter("1", "k", TimePoint{1s})));
}

TEST(LetterFilter, each_condition_excludes_letters_that_do_not_match) {
    const auto one = letter("1", "k", TimePoint{10s});

    EXPECT_TRUE(matches({.queue = "mails", .kind = "k", .error = "17", .failures_min = 3}, one));
    EXPECT_FALSE(matches({.queue = "default"}, one));
    EXPECT_FALSE(matches({.kind = "j"}, one));
    EXPECT_FALSE(matches({.error_kind = "ride"}, one));
    EXPECT_TRUE(matches({.error_kind = "ride # is away"}, one));
    EXPECT_FALSE(matches({.error = "18"}, one));
    EXPECT_FALSE(matches({.failures_min = 4}, one));
    EXPECT_FALSE(matches({.died_before = TimePoint{10s}}, one));
    EXPECT_TRUE(matches({.died_before = TimePoint{11s}, .died_since = TimePoint{10s}}, one));
    EXPECT_FALSE(matches({.died_since = TimePoint{11s}}, one));
}

TEST(LetterFilter, groups_are_counted_and_the_largest_is_first) {
    DeadLetterGroups groups;
    groups.add(letter("1", "a", TimePoint{5s}));
    groups.add(letter("3", "b", TimePoint{9s}));
    groups.add(letter("2", "b", TimePoint{1s}));

    const auto sorted = groups.sorted();

    ASSERT_EQ(sorted.size(), 2);
    EXPECT_EQ(sorted[0].kind, "b");
    EXPECT_EQ(sorted[0].count, 2);
    EXPECT_EQ(sorted[0].first_died_at, TimePoint{1s});
    EXPECT_EQ(sorted[0].last_died_at, TimePoint{9s});
    EXPECT_EQ(sorted[0].sample, "3");
    EXPECT_EQ(sorted[1].kind, "a");
}

}  // namespace pawl::queue::kafka
