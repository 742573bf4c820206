#include "src/engine/in_flight_keys.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <variant>

namespace pawl::engine {
namespace {

std::optional<bool> same_as_in_flight(InFlightKeys& keys, const std::string& fingerprint) {
    return std::get<InFlightKeys::Occupied>(keys.enter("hash", fingerprint)).same_request;
}

// Found by the simulator: while a wrong request under a key was queried, the right one was refused
// for good.
TEST(InFlightKeys, another_request_is_refused_only_if_the_one_in_flight_is_confirmed) {
    InFlightKeys keys;
    ASSERT_TRUE(std::holds_alternative<InFlightKeys::Entered>(keys.enter("hash", "one")));

    EXPECT_EQ(same_as_in_flight(keys, "one"), true);
    EXPECT_EQ(same_as_in_flight(keys, "another"), std::nullopt) << "which of the two has the key?";
    EXPECT_EQ(same_as_in_flight(keys, ""), std::nullopt);

    keys.confirm("hash");
    EXPECT_EQ(same_as_in_flight(keys, "another"), false);
    EXPECT_EQ(same_as_in_flight(keys, "one"), true);

    keys.remove("hash");
    keys.waiters_answered();
    ASSERT_TRUE(std::holds_alternative<InFlightKeys::Entered>(keys.enter("hash", "another")));
    EXPECT_EQ(same_as_in_flight(keys, "one"), std::nullopt);
}

TEST(InFlightKeys, a_key_that_is_not_in_flight_has_no_waiters) {
    InFlightKeys keys;

    EXPECT_EQ(keys.attach("hash", nullptr, {}), std::nullopt);
    EXPECT_EQ(keys.detach("hash", 1), std::nullopt);
    EXPECT_TRUE(keys.wait_empty(std::chrono::milliseconds{0}));
}

TEST(InFlightKeys, with_nobody_who_waits_hand_over_leaves_the_key) {
    InFlightKeys keys;
    (void)keys.enter("hash", "one");

    EXPECT_FALSE(keys.hand_over("hash"));

    keys.waiters_answered();
    EXPECT_TRUE(keys.wait_empty(std::chrono::milliseconds{0}));
}

TEST(InFlightKeys, a_hold_counts_until_its_last_copy_is_gone) {
    InFlightKeys keys;
    auto held = keys.hold();
    auto copy = held;

    held.reset();
    EXPECT_EQ(keys.size(), 1);
    EXPECT_FALSE(keys.wait_empty(std::chrono::milliseconds{0}));
    copy.reset();
    EXPECT_EQ(keys.size(), 0);
    EXPECT_TRUE(keys.wait_empty(std::chrono::milliseconds{0}));
}

TEST(InFlightKeysDeathTest, a_key_is_left_once_by_the_attempt_that_entered_it) {
    InFlightKeys keys;
    (void)keys.enter("hash", "one");
    (void)keys.remove("hash");

    EXPECT_DEATH((void)keys.remove("hash"), "at != live_.end");
    EXPECT_DEATH(keys.confirm("hash"), "at != live_.end");
    keys.waiters_answered();
    EXPECT_DEATH(keys.waiters_answered(), "answering_ > 0");
}

TEST(InFlightKeys, an_answered_waiter_gets_no_second_answer) {
    InFlightKeys keys;
    (void)keys.enter("hash", "one");
    const auto waiter = keys.attach("hash", [](const Answer&) {}, {});
    ASSERT_TRUE(waiter);

    EXPECT_TRUE(keys.detach("hash", *waiter));

    EXPECT_FALSE(keys.detach("hash", *waiter));
    EXPECT_TRUE(keys.remove("hash").empty());
    keys.waiters_answered();
}

}  // namespace
}  // namespace pawl::engine
