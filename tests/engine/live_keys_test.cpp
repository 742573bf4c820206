#include "src/engine/live_keys.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <variant>

namespace pawl::engine {
namespace {

std::optional<bool> same_as_in_flight(LiveKeys& keys, const std::string& fingerprint) {
    return std::get<LiveKeys::Occupied>(keys.enter("hash", fingerprint, {})).same_request;
}

// Found by the simulator: while a wrong request under a key was queried, the right one was refused
// for good.
TEST(LiveKeys, another_request_is_refused_only_if_the_one_in_flight_is_confirmed) {
    LiveKeys keys;
    ASSERT_TRUE(std::holds_alternative<LiveKeys::Entered>(keys.enter("hash", "one", {})));

    EXPECT_EQ(same_as_in_flight(keys, "one"), true);
    EXPECT_EQ(same_as_in_flight(keys, "another"), std::nullopt) << "which of the two has the key?";
    EXPECT_EQ(same_as_in_flight(keys, ""), std::nullopt);

    keys.confirm("hash");
    EXPECT_EQ(same_as_in_flight(keys, "another"), false);
    EXPECT_EQ(same_as_in_flight(keys, "one"), true);

    keys.leave("hash");
    keys.told();
    ASSERT_TRUE(std::holds_alternative<LiveKeys::Entered>(keys.enter("hash", "another", {})));
    EXPECT_EQ(same_as_in_flight(keys, "one"), std::nullopt);
}

TEST(LiveKeys, an_attempt_that_only_queries_is_not_at_work) {
    using namespace std::chrono_literals;
    LiveKeys keys;
    const std::chrono::steady_clock::time_point entered{5s};
    (void)keys.enter("hash", "one", entered);
    auto since = [&] {
        return std::get<LiveKeys::Occupied>(keys.enter("hash", "one", entered + 1s)).at_work_since;
    };

    EXPECT_EQ(since(), std::nullopt);
    keys.at_work("hash");
    EXPECT_EQ(since(), entered);
    keys.at_work("hash", false);
    EXPECT_EQ(since(), std::nullopt) << "its commit may be done, and nobody told";
}

TEST(LiveKeys, a_key_that_is_not_in_flight_has_no_waiters) {
    LiveKeys keys;

    EXPECT_EQ(keys.attach("hash", nullptr, {}), std::nullopt);
    EXPECT_EQ(keys.detach("hash", 1), std::nullopt);
    EXPECT_TRUE(keys.wait_empty(std::chrono::milliseconds{0}));
}

TEST(LiveKeys, with_nobody_who_waits_hand_over_leaves_the_key) {
    LiveKeys keys;
    (void)keys.enter("hash", "one", {});

    EXPECT_FALSE(keys.hand_over("hash"));

    keys.told();
    EXPECT_TRUE(keys.wait_empty(std::chrono::milliseconds{0}));
}

TEST(LiveKeys, a_hold_counts_until_its_last_copy_is_gone) {
    LiveKeys keys;
    auto held = keys.hold();
    auto copy = held;

    held.reset();
    EXPECT_EQ(keys.size(), 1);
    EXPECT_FALSE(keys.wait_empty(std::chrono::milliseconds{0}));
    copy.reset();
    EXPECT_EQ(keys.size(), 0);
    EXPECT_TRUE(keys.wait_empty(std::chrono::milliseconds{0}));
}

TEST(LiveKeysDeathTest, a_key_is_left_once_by_the_attempt_that_entered_it) {
    LiveKeys keys;
    (void)keys.enter("hash", "one", {});
    (void)keys.leave("hash");

    EXPECT_DEATH((void)keys.leave("hash"), "at != live_.end");
    EXPECT_DEATH(keys.confirm("hash"), "at != live_.end");
    EXPECT_DEATH(keys.at_work("hash"), "at != live_.end");
    keys.told();
    EXPECT_DEATH(keys.told(), "telling_ > 0");
}

TEST(LiveKeys, an_answered_waiter_gets_no_second_answer) {
    LiveKeys keys;
    (void)keys.enter("hash", "one", {});
    const auto waiter = keys.attach("hash", [](const Answer&) {}, {});
    ASSERT_TRUE(waiter);

    EXPECT_TRUE(keys.detach("hash", *waiter));

    EXPECT_FALSE(keys.detach("hash", *waiter));
    EXPECT_TRUE(keys.leave("hash").empty());
    keys.told();
}

}  // namespace
}  // namespace pawl::engine
