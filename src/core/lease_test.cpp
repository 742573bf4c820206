#include "src/core/lease.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::core {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'000'000s};

LeaseFacts held(TimePoint until) {
    return {.epoch = 7, .holder = "ann", .until = until, .ttl = 30s};
}

std::int64_t epoch_of(const LeaseChoice& choice) {
    const auto* taken = std::get_if<LeaseTaken>(&choice);
    return taken != nullptr ? taken->epoch : 0;
}

TEST(DecideLease, takes_what_is_free_and_no_epoch_twice) {
    struct Case {
        std::string name;
        std::optional<LeaseFacts> found;
        std::string_view holder;
        std::int64_t epoch;  // 0: another holder has it.
    };
    auto given_back = held(now + 10s);
    given_back.holder.reset();
    const Case cases[]{
        {"a name that is new", {}, "joe", 1},
        {"one that was given back", given_back, "joe", 8},
        {"one that is over", held(now), "joe", 8},
        {"one that ends in a moment", held(now + 1ms), "joe", 0},
        {"one just taken", held(now + 30s), "joe", 0},
        {"as far ahead as two looks at a clock may be apart", held(now + 60s), "joe", 0},
        {"one of a clock that was wrong", held(now + 60s + 1ms), "joe", 8},
        {"one's own, after a commit without an answer", held(now + 30s), "ann", 8},
    };

    for (const auto& [name, found, holder, epoch] : cases)
        EXPECT_EQ(epoch_of(decide_lease(found ? &*found : nullptr, holder, now)), epoch) << name;
}

TEST(DecideLease, says_how_long_it_is_still_held) {
    const auto found = held(now + 12s);

    EXPECT_EQ(std::get<LeaseHeld>(decide_lease(&found, "joe", now)).left, 12s);
}

TEST(MayExtend, asks_for_its_very_holder_before_its_end) {
    const auto good = held(now + 1ms);
    const auto over = held(now);
    auto given_back = good;
    given_back.holder.reset();

    EXPECT_TRUE(may_extend(&good, 7, "ann", now));
    EXPECT_FALSE(may_extend(&good, 6, "ann", now)) << "an epoch before";
    EXPECT_FALSE(may_extend(&good, 7, "joe", now)) << "another holder";
    EXPECT_FALSE(may_extend(&over, 7, "ann", now)) << "its holder has stopped already";
    EXPECT_FALSE(may_extend(&given_back, 7, "ann", now));
    EXPECT_FALSE(may_extend(nullptr, 7, "ann", now));
}

TEST(HolderEnd, comes_before_the_place_says_that_it_is_over) {
    const SteadyTime asked{100s};

    EXPECT_EQ(holder_end(asked, 30s) - asked, 27s);
    EXPECT_EQ(renewal_due(asked, 30s) - asked, 10s);
    EXPECT_EQ(renewal_due_again(asked, 30s) - asked, 3s);
    EXPECT_EQ(renewal_due_again(asked, 90ms) - asked, 10ms) << "no busy loop";
}

TEST(LookAgain, grows_and_passes_neither_the_lease_nor_the_wait) {
    EXPECT_EQ(look_again_in(10s, 10s, 0, 0), 10ms);
    EXPECT_LT(look_again_in(10s, 10s, 0, 0.999), 20ms);
    EXPECT_EQ(look_again_in(10s, 10s, 30, 0), 125ms);
    EXPECT_EQ(look_again_in(7ms, 10s, 30, 0), 8ms) << "a moment behind its end";
    EXPECT_EQ(look_again_in(10s, 3ms, 30, 0), 3ms) << "the wait ends";
    EXPECT_EQ(look_again_in(0ms, 0ms, 0, 0), 1ms) << "no busy loop";
}

}  // namespace
}  // namespace pawl::core
