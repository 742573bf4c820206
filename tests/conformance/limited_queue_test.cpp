#include "tests/conformance/queue_world.hpp"

#include <gmock/gmock.h>

// What every queue with limits over all servers must do; two queues are two servers.
namespace pawl::conformance {

namespace {

using ::testing::IsEmpty;

}  // namespace

TEST_P(LimitedQueueTest, servers_together_run_no_more_jobs_than_the_limit) {
    const auto one = world->open_limited({.running_max = 3});
    const auto other = world->open_limited({.running_max = 3});
    stage_some(10);

    auto jobs = one->claim(2, 30s);
    EXPECT_EQ(jobs.size(), 2);
    EXPECT_EQ(other->claim(10, 30s).size(), 1);
    EXPECT_THAT(other->claim(10, 30s), IsEmpty());
    EXPECT_EQ(other->held_back_for({}), std::nullopt) << "a job must end first";

    EXPECT_TRUE(one->finish(jobs[0]));
    EXPECT_EQ(other->claim(10, 30s).size(), 1) << "the one that has ended";
    EXPECT_TRUE(one->reschedule(jobs[1], 0ms, std::nullopt));
    EXPECT_EQ(one->claim(10, 30s).size(), 1);
}

TEST_P(LimitedQueueTest, jobs_of_a_dead_server_count_until_they_are_rescued) {
    const auto dead = world->open_limited({.running_max = 2});
    const auto alive = world->open_limited({.running_max = 2});
    stage_some(5);
    EXPECT_EQ(dead->claim(10, 30s).size(), 2);
    clock.advance(31s);

    EXPECT_THAT(alive->claim(10, 30s), IsEmpty());
    EXPECT_EQ(alive->rescue(30s), 2);
    EXPECT_EQ(alive->claim(10, 30s).size(), 2);
}

TEST_P(LimitedQueueTest, retries_hold_at_most_half_of_the_places) {
    const auto limited = world->open_limited({.running_max = 4});
    stage_some(8);
    for (const auto& job : limited->claim(4, 30s, {.failures_max = 0}))
        EXPECT_TRUE(limited->reschedule(job, 1s, "an error"));
    clock.advance(2s);

    EXPECT_EQ(limited->claim(10, 30s, {.failures_min = 1}).size(), 2);
    EXPECT_THAT(limited->claim(10, 30s, {.failures_min = 1}), IsEmpty());
    EXPECT_EQ(limited->claim(10, 30s, {.failures_max = 0}).size(), 2);
    EXPECT_THAT(limited->claim(10, 30s, {.failures_max = 0}), IsEmpty());
}

TEST_P(LimitedQueueTest, jobs_begin_at_the_rate_of_all_servers_together) {
    const core::QueueLimits limits{.token_each = 100ms, .burst = 2};
    const auto one = world->open_limited(limits);
    const auto other = world->open_limited(limits);
    stage_some(10);

    EXPECT_EQ(one->claim(10, 30s).size(), 2) << "the burst";
    EXPECT_THAT(other->claim(10, 30s), IsEmpty());
    EXPECT_EQ(other->held_back_for({}), 100ms);
    clock.advance(99ms);
    EXPECT_THAT(one->claim(10, 30s), IsEmpty());
    EXPECT_EQ(one->held_back_for({}), 1ms);
    clock.advance(1ms);
    EXPECT_EQ(other->claim(10, 30s).size(), 1);
    EXPECT_THAT(one->claim(10, 30s), IsEmpty());
    clock.advance(1min);
    EXPECT_EQ(one->claim(10, 30s).size(), 2) << "the burst is all that a quiet time gives";
    EXPECT_EQ(one->held_back_for({}), std::nullopt);
}

TEST_P(LimitedQueueTest, a_claim_that_finds_no_job_uses_up_none_of_the_rate) {
    const auto limited = world->open_limited({.token_each = 100ms, .burst = 1});

    for (int poll = 0; poll < 5; ++poll) EXPECT_THAT(limited->claim(10, 30s), IsEmpty());
    stage_some(1);

    EXPECT_EQ(limited->claim(10, 30s).size(), 1);
}

// A slower rate, or a clock that was set back, left a bucket that is full in an hour.
TEST_P(LimitedQueueTest, a_bucket_that_is_full_too_late_fills_up_in_its_usual_time) {
    const auto slow = world->open_limited({.token_each = 1h, .burst = 1});
    const auto fast = world->open_limited({.token_each = 100ms, .burst = 2});
    stage_some(10);
    EXPECT_EQ(slow->claim(1, 30s).size(), 1);

    EXPECT_THAT(fast->claim(10, 30s), IsEmpty());
    EXPECT_EQ(fast->held_back_for({}), 100ms);
    clock.advance(100ms);
    EXPECT_EQ(fast->claim(10, 30s).size(), 1);
    clock.advance(1s);
    EXPECT_EQ(fast->claim(10, 30s).size(), 2);
}

TEST_P(LimitedQueueTest, a_poll_that_finds_no_job_is_not_held_back) {
    const auto limited = world->open_limited({.token_each = 100ms, .burst = 1});
    stage_some(1);
    EXPECT_EQ(limited->claim(10, 30s).size(), 1);

    EXPECT_THAT(limited->claim(10, 30s, {.failures_min = 1}), IsEmpty());

    EXPECT_EQ(limited->held_back_for({}), std::nullopt);
}

TEST_P(LimitedQueueTest, both_limits_hold) {
    const auto limited = world->open_limited({.running_max = 3, .token_each = 100ms, .burst = 2});
    stage_some(10);

    EXPECT_EQ(limited->claim(10, 30s).size(), 2);
    clock.advance(1min);
    EXPECT_EQ(limited->claim(10, 30s).size(), 1);
    EXPECT_THAT(limited->claim(10, 30s), IsEmpty());
}

TEST_P(LimitedQueueTest, another_queue_has_limits_of_its_own) {
    const auto limited = world->open_limited({.running_max = 1, .token_each = 1min});
    const auto mails = world->open("mails");
    stage_some(2);
    stage(QueueWorld::Job{.jid = "mail 1", .queue = "mails"});
    stage(QueueWorld::Job{.jid = "mail 2", .queue = "mails"});

    EXPECT_EQ(limited->claim(10, 30s).size(), 1);
    EXPECT_EQ(mails->claim(10, 30s).size(), 2);
}

}  // namespace pawl::conformance
