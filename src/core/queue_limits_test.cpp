#include "src/core/queue_limits.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace pawl::core::queue_limits_test {
namespace {

using namespace std::chrono_literals;

constexpr Microseconds now{1'000'000'000'000};

int room(const QueueLimits& limits, const QueueUse& use, bool for_retries, int asked = 64) {
    return decide_claim_room(limits, use, for_retries, asked, now).jobs;
}

TEST(QueueLimits, a_queue_without_limits_gives_what_is_asked_for) {
    EXPECT_FALSE(QueueLimits{}.any());
    EXPECT_EQ(room({}, {.running = 1'000}, false), 64);
}

TEST(QueueLimits, running_jobs_leave_their_places_to_others_only_when_they_end) {
    const QueueLimits limits{.running_max = 10};

    EXPECT_EQ(room(limits, {}, false), 10);
    EXPECT_EQ(room(limits, {.running = 7}, false), 3);
    EXPECT_EQ(room(limits, {.running = 7}, false, 2), 2);
    EXPECT_EQ(room(limits, {.running = 10}, false), 0);
    EXPECT_EQ(room(limits, {.running = 12}, false), 0) << "a server had a higher limit";
}

TEST(QueueLimits, retries_have_half_of_the_places_and_at_least_one) {
    const QueueLimits limits{.running_max = 10};

    EXPECT_EQ(room(limits, {}, true), 5);
    EXPECT_EQ(room(limits, {.running = 4, .retries_running = 4}, true), 1);
    EXPECT_EQ(room(limits, {.running = 5, .retries_running = 5}, true), 0);
    EXPECT_EQ(room(limits, {.running = 5, .retries_running = 5}, false), 5);
    EXPECT_EQ(room(limits, {.running = 9, .retries_running = 0}, true), 1);
    EXPECT_EQ(room({.running_max = 1}, {}, true), 1);
}

TEST(QueueLimits, a_quiet_queue_may_begin_its_burst_and_then_a_job_each_interval) {
    const QueueLimits limits{.token_each = 100ms, .burst = 3};

    EXPECT_EQ(room(limits, {}, false), 3);
    const auto full_at = full_at_after(limits, Microseconds{}, 3, now);
    const auto empty = decide_claim_room(limits, {.full_at = full_at}, false, 64, now);
    EXPECT_EQ(empty.jobs, 0);
    EXPECT_EQ(empty.more_in, 100ms);
    EXPECT_EQ(decide_claim_room(limits, {.full_at = full_at}, false, 64, now + 99ms).jobs, 0);
    EXPECT_EQ(decide_claim_room(limits, {.full_at = full_at}, false, 64, now + 99ms).more_in, 1ms);
    EXPECT_EQ(decide_claim_room(limits, {.full_at = full_at}, false, 64, now + 100ms).jobs, 1);
    EXPECT_EQ(decide_claim_room(limits, {.full_at = full_at}, false, 64, now + 1h).jobs, 3);
}

TEST(QueueLimits, a_bucket_that_a_wrong_clock_wrote_fills_up_in_its_usual_time) {
    const QueueLimits limits{.token_each = 100ms, .burst = 3};
    const QueueUse from_the_future{.full_at = now + 24h};

    EXPECT_EQ(decide_claim_room(limits, from_the_future, false, 64, now).more_in, 100ms);
    const auto stored = full_at_after(limits, from_the_future.full_at, 0, now);
    EXPECT_EQ(stored, now + 300ms);
    EXPECT_EQ(decide_claim_room(limits, {.full_at = stored}, false, 64, now + 300ms).jobs, 3);
}

TEST(QueueLimits, both_limits_hold) {
    const QueueLimits limits{.running_max = 2, .token_each = 100ms, .burst = 5};

    EXPECT_EQ(room(limits, {}, false), 2);
    EXPECT_EQ(room(limits, {.running = 2}, false), 0);
    EXPECT_EQ(decide_claim_room(limits, {.running = 2}, false, 64, now).more_in, 0us)
        << "a job must end first";
}

// Whatever servers ask for and when: no window of any length has more jobs than its share.
TEST(QueueLimitsProperty, no_window_begins_more_than_the_burst_and_its_share_of_the_rate) {
    std::mt19937 dice{17};
    const auto in = [&](int least, int most) {
        return std::uniform_int_distribution{least, most}(dice);
    };
    for (int round = 0; round < 300; ++round) {
        const QueueLimits limits{.token_each = Microseconds{in(1, 200'000)}, .burst = in(1, 20)};
        std::deque<Microseconds> begun;
        QueueUse use;
        auto at = now;
        for (int claim = 0; claim < 300; ++claim) {
            at += Microseconds{in(0, 3) == 0 ? in(0, 1'000'000) : in(0, 2'000)};
            const auto taken = decide_claim_room(limits, use, in(0, 1) == 0, in(0, 30), at).jobs;
            use.full_at = full_at_after(limits, use.full_at, taken, at);
            for (int job = 0; job < taken; ++job) begun.push_back(at);
        }
        for (std::size_t first = 0; first < begun.size(); ++first)
            for (std::size_t last = first; last < begun.size(); ++last)
                ASSERT_LE(
                    last - first + 1,
                    static_cast<std::size_t>(
                        limits.burst + (begun[last] - begun[first]) / limits.token_each
                    )
                );
    }
}

}  // namespace
}  // namespace pawl::core::queue_limits_test
