#include "src/core/lease.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::core::lease_test {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'000'000s};

LeaseFacts held(TimePoint until) {
    return {.epoch = 7, .holder = "ann", .until = until, .ttl = 30s};
}

std::int64_t epoch_of(const LeaseChoice& choice) {
    const auto* taken = std::get_if<LeaseAcquired>(&choice);
    return taken != nullptr ? taken->epoch : 0;
}

TEST(DecideLease, a_free_lease_is_taken_and_no_epoch_is_given_twice) {
    struct Case {
        std::string name;
        std::optional<LeaseFacts> found;
        std::string_view holder;
        std::int64_t epoch;  // 0: another holder has it.
    };
    auto released = held(now + 10s);
    released.holder.reset();
    const Case cases[]{
        {"a name that is new", {}, "joe", 1},
        {"one that was released", released, "joe", 8},
        {"one that is over", held(now), "joe", 8},
        {"one that ends in a moment", held(now + 1ms), "joe", 0},
        {"one just taken", held(now + 30s), "joe", 0},
        {"as far ahead as two polls at a clock may be apart", held(now + 60s), "joe", 0},
        {"one of a clock that was wrong", held(now + 60s + 1ms), "joe", 8},
        {"one's own, after a commit without an answer", held(now + 30s), "ann", 8},
    };

    for (const auto& [name, found, holder, epoch] : cases)
        EXPECT_EQ(epoch_of(decide_lease(found ? &*found : nullptr, holder, now)), epoch) << name;
}

TEST(DecideLease, a_refusal_has_the_remaining_time) {
    const auto found = held(now + 12s);

    EXPECT_EQ(std::get<LeaseHeld>(decide_lease(&found, "joe", now)).left, 12s);
}

TEST(MayExtend, only_the_holder_may_extend_before_the_end) {
    const auto good = held(now + 1ms);
    const auto over = held(now);
    auto released = good;
    released.holder.reset();

    EXPECT_TRUE(may_extend(&good, 7, "ann", now));
    EXPECT_FALSE(may_extend(&good, 6, "ann", now)) << "an epoch before";
    EXPECT_FALSE(may_extend(&good, 7, "joe", now)) << "another holder";
    EXPECT_FALSE(may_extend(&over, 7, "ann", now)) << "its holder has stopped already";
    EXPECT_FALSE(may_extend(&released, 7, "ann", now));
    EXPECT_FALSE(may_extend(nullptr, 7, "ann", now));
}

TEST(HolderEnd, the_holders_end_comes_before_the_backends) {
    const SteadyTime asked{100s};

    EXPECT_EQ(holder_end(asked, 30s) - asked, 27s);
    EXPECT_EQ(renewal_due(asked, 30s) - asked, 10s);
    EXPECT_EQ(renewal_due_again(asked, 30s) - asked, 3s);
    EXPECT_EQ(renewal_due_again(asked, 90ms) - asked, 10ms) << "no busy loop";
}

TEST(LookAgain, the_poll_interval_grows_up_to_the_lease_or_the_wait) {
    EXPECT_EQ(next_poll_in(10s, 10s, 0, 0), 10ms);
    EXPECT_LT(next_poll_in(10s, 10s, 0, 0.999), 20ms);
    EXPECT_EQ(next_poll_in(10s, 10s, 30, 0), 125ms);
    EXPECT_EQ(next_poll_in(7ms, 10s, 30, 0), 8ms) << "a moment behind its end";
    EXPECT_EQ(next_poll_in(10s, 3ms, 30, 0), 3ms) << "the wait ends";
    EXPECT_EQ(next_poll_in(0ms, 0ms, 0, 0), 1ms) << "no busy loop";
}

}  // namespace
}  // namespace pawl::core::lease_test
