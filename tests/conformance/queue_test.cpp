#include "tests/conformance/queue_world.hpp"

// What every queue must do.
namespace pawl::conformance {

namespace {

using queue::FinishResult;
using Jids = std::vector<std::string>;

}  // namespace

TEST_P(QueueTest, a_job_is_claimed_as_it_was_staged) {
    stage("jid");

    auto job = take_one();

    EXPECT_EQ(job.raw.jid, "jid");
    EXPECT_EQ(job.queue, "default");
    EXPECT_EQ(job.kind, "send_receipt");
    EXPECT_EQ(job.raw.args, R"({"ride":1})");
    EXPECT_EQ(job.raw.key_id, 7);
    EXPECT_EQ(job.raw.created_at, clock.now());
    EXPECT_EQ(job.raw.attempt, 1);
    EXPECT_EQ(job.failures, 0);
    EXPECT_FALSE(job.called_at);
}

TEST_P(QueueTest, a_job_under_a_lease_is_not_claimed_again) {
    stage("jid");
    take_one();

    EXPECT_TRUE(queue->claim(10, 30s).empty());
    EXPECT_FALSE(queue->next_due());
}

TEST_P(QueueTest, a_job_is_claimed_when_it_is_due_and_not_before) {
    stage("later", 10s);
    EXPECT_EQ(queue->next_due(), clock.now() + 10s);
    clock.advance(10s - 1ms);
    EXPECT_TRUE(queue->claim(10, 30s).empty());

    clock.advance(1ms);

    EXPECT_EQ(jids(queue->claim(10, 30s)), Jids{"later"});
}

TEST_P(QueueTest, at_most_the_limit_is_claimed_and_the_longest_due_first) {
    stage("third", 3s);
    stage("first", 1s);
    stage("second", 2s);
    clock.advance(5s);

    EXPECT_EQ(jids(queue->claim(2, 30s)), (Jids{"first", "second"}));
    EXPECT_EQ(jids(queue->claim(2, 30s)), Jids{"third"});
}

TEST_P(QueueTest, released_jobs_are_due_at_once_and_those_of_others_are_left) {
    for (const auto* jid : {"a", "b", "c"}) stage(jid);
    const auto jobs = queue->claim(3, 30s);
    ASSERT_EQ(jobs.size(), 3);
    EXPECT_TRUE(queue->finish(jobs[2]));

    queue->release(jobs);

    EXPECT_EQ(sorted_jids(queue->claim(10, 30s)), sorted_jids({jobs[0], jobs[1]}));
}

TEST_P(QueueTest, a_queue_claims_only_its_own_jobs) {
    stage(QueueWorld::Job{.jid = "elsewhere", .queue = "mails"});

    EXPECT_TRUE(queue->claim(10, 30s).empty());
    EXPECT_EQ(jids(world->open("mails")->claim(10, 30s)), Jids{"elsewhere"});
}

TEST_P(QueueTest, a_finished_job_is_gone) {
    stage("jid");

    EXPECT_TRUE(queue->finish(take_one()));

    clock.advance(1h);
    EXPECT_EQ(queue->rescue(60s), 0);
    EXPECT_TRUE(queue->claim(10, 30s).empty());
}

TEST_P(QueueTest, the_mark_that_a_job_is_done_commits_with_its_writes_or_not_at_all) {
    stage("jid");
    auto job = take_one();

    EXPECT_ANY_THROW(write_now(world->store(), [&](Session& session) {
        change(session, notes::insert, "its write");
        EXPECT_EQ(queue->finish_in_transaction(session, job), FinishResult::done);
        throw std::runtime_error{"after all"};
    }));
    EXPECT_EQ(note_count(), 0);
    EXPECT_TRUE(queue->renew(job, 30s)) << "it is still ours";
    write_now(world->store(), [&](Session& session) {
        change(session, notes::insert, "its write");
        EXPECT_EQ(queue->finish_in_transaction(session, job), FinishResult::done);
    });

    queue->finished(job);

    EXPECT_EQ(note_count(), 1);
    EXPECT_FALSE(queue->renew(job, 30s));
}

// Found by the simulator: such a job, delivered again, failed and became a dead letter.
TEST_P(QueueTest, a_job_done_in_a_transaction_is_gone_or_known_as_done) {
    stage("jid");
    auto job = take_one();
    const auto known = [&] {
        return store::read_now(world->store(), [&](Session& session) {
            return queue->done_before(session, job);
        });
    };
    EXPECT_FALSE(known());

    write_now(world->store(), [&](Session& session) {
        EXPECT_EQ(queue->finish_in_transaction(session, job), FinishResult::done);
    });

    const bool gone = !queue->renew(job, 30s);
    EXPECT_TRUE(gone || known());
}

TEST_P(QueueLeaseTest, a_lease_that_ended_frees_the_job_and_its_old_holder_writes_nothing) {
    stage("jid");
    auto old = take_one();
    clock.advance(30s);

    EXPECT_EQ(queue->rescue(60s), 1);
    const auto ours = take_one();

    EXPECT_NE(ours.claim, old.claim);
    EXPECT_EQ(ours.failures, 0) << "a worker that died is no failure of the job";
    EXPECT_FALSE(queue->renew(old, 30s));
    EXPECT_FALSE(queue->mark_called(old));
    EXPECT_FALSE(queue->reschedule(old, 0s, std::nullopt));
    EXPECT_FALSE(queue->reschedule(old, 0s, "an error"));
    EXPECT_FALSE(queue->dead_letter(old, "an error"));
    EXPECT_FALSE(queue->finish(old));
    EXPECT_TRUE(letters->page({}, "", 10).empty());
    EXPECT_TRUE(queue->finish(ours));
}

// Between the rescue and the next claim the job still has the old claim number.
TEST_P(QueueLeaseTest, a_lost_lease_fences_even_before_the_next_claim) {
    stage("jid");
    auto old = take_one();
    clock.advance(30s);
    queue->rescue(60s);

    EXPECT_FALSE(queue->renew(old, 30s));
    EXPECT_FALSE(queue->mark_called(old));
    EXPECT_FALSE(queue->reschedule(old, 1h, "an error"));
    EXPECT_FALSE(queue->finish(old));
    EXPECT_FALSE(queue->dead_letter(old, "an error"));

    EXPECT_TRUE(letters->page({}, "", 10).empty()) << "a job is not dead and alive";
    const auto ours = take_one();
    EXPECT_TRUE(queue->dead_letter(ours, "for good"));
    EXPECT_EQ(letters->page({}, "", 10).size(), 1);
}

// A job that kills its servers is found by their number (docs/adr/0044).
TEST_P(QueueLeaseTest, each_lease_that_ends_without_a_result_is_a_death) {
    if (!world->counts_deaths()) GTEST_SKIP() << "Kafka counts no deaths";
    stage("jid");
    EXPECT_EQ(take_one().deaths, 0);
    for (int deaths = 1; deaths <= 2; ++deaths) {
        clock.advance(30s);
        EXPECT_EQ(queue->rescue(60s), 1);
        auto job = take_one();
        EXPECT_EQ(job.deaths, deaths);
        EXPECT_EQ(job.failures, 0);
        EXPECT_TRUE(queue->mark_called(job)) << "which writes the job anew on Redis";
    }
    clock.advance(30s);
    queue->rescue(60s);

    EXPECT_TRUE(queue->reschedule(take_one(), 0s, "an error"));

    auto failed = take_one();
    EXPECT_EQ(failed.deaths, 3) << "a failure does not take them back";
    EXPECT_EQ(failed.failures, 1);
}

TEST_P(QueueLeaseTest, a_lease_by_a_wrong_clock_is_no_death) {
    stage("jid");
    EXPECT_TRUE(queue->renew(take_one(), 24h));

    EXPECT_EQ(queue->rescue(60s), 1);

    EXPECT_EQ(take_one().deaths, 0);
}

TEST_P(QueueLeaseTest, a_run_alone_is_known_after_a_death_and_not_after_any_other_end) {
    if (!world->counts_deaths()) GTEST_SKIP() << "Kafka counts no deaths";
    stage("jid");
    const auto die = [&] {
        clock.advance(30s);
        EXPECT_EQ(queue->rescue(60s), 1);
        return take_one();
    };
    auto job = take_one();
    EXPECT_FALSE(job.deaths_before_alone);
    using Error = std::optional<std::string>;
    for (const auto& error : {Error{}, Error{"an error"}}) {
        EXPECT_TRUE(queue->begin_alone(job));
        EXPECT_TRUE(queue->mark_called(job));
        EXPECT_TRUE(queue->reschedule(job, 0s, error));
        clock.advance(1ms);
        job = take_one();
        EXPECT_FALSE(job.deaths_before_alone);
    }
    job = die();
    EXPECT_TRUE(queue->begin_alone(job));
    EXPECT_TRUE(queue->mark_called(job));
    const auto before = job;
    job = die();
    EXPECT_EQ(job.deaths, 2);
    EXPECT_EQ(job.deaths_before_alone, 1);

    auto lost = before;
    EXPECT_FALSE(queue->begin_alone(lost)) << "another worker has it";
}

TEST_P(QueueLeaseTest, a_renewed_lease_is_not_rescued) {
    stage("jid");
    auto job = take_one();
    clock.advance(29s);
    EXPECT_TRUE(queue->renew(job, 30s));
    clock.advance(29s);

    EXPECT_EQ(queue->rescue(60s), 0);
    clock.advance(1s);
    EXPECT_EQ(queue->rescue(60s), 1);
}

TEST_P(QueueLeaseTest, a_lease_further_away_than_any_can_be_is_over) {
    stage("jid");
    auto job = take_one();
    EXPECT_TRUE(queue->renew(job, 24h));  // By a clock that was a day ahead.

    EXPECT_EQ(queue->rescue(60s), 1);
}

TEST_P(QueueTest, a_job_put_back_without_an_error_has_not_failed) {
    stage("jid");

    EXPECT_TRUE(queue->reschedule(take_one(), 5s, std::nullopt));

    EXPECT_TRUE(queue->claim(1, 30s).empty());
    clock.advance(5s);
    const auto again = take_one();
    EXPECT_EQ(again.failures, 0);
    EXPECT_FALSE(again.raw.first_failed_at);
    EXPECT_FALSE(again.raw.last_error);
}

TEST_P(QueueTest, a_failed_job_has_its_first_failure_and_its_last_error) {
    stage("jid");
    const auto first_failed_at = clock.now();
    queue->reschedule(take_one(), 5s, "the first error");
    clock.advance(5s);
    queue->reschedule(take_one(), 5s, "the second error");
    clock.advance(5s);

    auto job = take_one();

    EXPECT_EQ(job.failures, 2);
    EXPECT_EQ(job.raw.attempt, 3);
    EXPECT_EQ(job.raw.first_failed_at, first_failed_at);
    EXPECT_EQ(job.raw.last_error, "the second error");
}

// First tries and each retry layer have workers of their own (issue 18).
TEST_P(QueueTest, a_claim_for_first_tries_or_for_a_layer_gets_no_others) {
    stage("retried");
    queue->reschedule(take_one(), 1s, "the first error");
    clock.advance(1s);
    queue->reschedule(take_one(), 1s, "the second error");
    stage("failed");
    queue->reschedule(take_one(), 1s, "the first error");
    clock.advance(1s);
    stage("first");

    EXPECT_TRUE(queue->claim(10, 30s, {.failures_min = 3}).empty());
    EXPECT_EQ(jids(queue->claim(10, 30s, {.failures_min = 2})), Jids{"retried"});
    EXPECT_EQ(jids(queue->claim(10, 30s, {.failures_max = 0})), Jids{"first"});
    const queue::ClaimFilter once{.failures_min = 1, .failures_max = 1};
    EXPECT_EQ(jids(queue->claim(10, 30s, once)), Jids{"failed"});
}

TEST_P(QueueLeaseTest, a_rescued_retry_is_for_the_workers_of_its_layer) {
    const queue::ClaimFilter first{.failures_max = 0};
    const queue::ClaimFilter retries{.failures_min = 1};
    stage("jid");
    queue->reschedule(take_one(), 1s, "an error");
    clock.advance(1s);
    EXPECT_EQ(queue->claim(10, 30s, retries).size(), 1);
    clock.advance(31s);

    queue->rescue(30s);

    EXPECT_TRUE(queue->claim(10, 30s, first).empty());
    EXPECT_EQ(jids(queue->claim(10, 30s, retries)), Jids{"jid"});
}

// A kind that has its share of the workers is left out, also where its jobs have been due longest.
TEST_P(QueueTest, a_claim_leaves_out_kinds_and_gets_them_later) {
    const queue::ClaimFilter others{.without_kinds = {"send_receipt", "unknown"}};
    for (int i = 10; i < 40; ++i) stage("mail" + std::to_string(i));
    clock.advance(1ms);
    stage(QueueWorld::Job{.jid = "points", .kind = "award_points"});

    EXPECT_EQ(jids(queue->claim(10, 30s, others)), Jids{"points"});
    EXPECT_TRUE(queue->claim(10, 30s, others).empty());
    clock.advance(10s);
    stage(QueueWorld::Job{.jid = "more", .kind = "award_points"});
    EXPECT_EQ(jids(queue->claim(10, 30s, others)), Jids{"more"});
    EXPECT_EQ(queue->claim(100, 30s).size(), 30);
}

TEST_P(QueueTest, a_dead_lettered_job_is_only_among_the_dead_letters) {
    stage("jid");
    const auto created_at = clock.now();
    clock.advance(1s);
    auto job = take_one();
    queue->mark_called(job);
    clock.advance(1s);

    EXPECT_TRUE(queue->dead_letter(job, "for good"));

    const auto buried = letters->page({}, "", 10);
    ASSERT_EQ(buried.size(), 1);
    EXPECT_EQ(buried[0].jid, "jid");
    EXPECT_EQ(buried[0].kind, "send_receipt");
    EXPECT_EQ(buried[0].args, R"({"ride":1})");
    EXPECT_EQ(buried[0].failures, 1);
    EXPECT_EQ(buried[0].key_id, 7);
    EXPECT_EQ(buried[0].created_at, created_at);
    EXPECT_EQ(buried[0].called_at, created_at + 1s);
    EXPECT_EQ(buried[0].first_failed_at, clock.now());
    EXPECT_EQ(buried[0].error, "for good");
    EXPECT_EQ(buried[0].died_at, clock.now());
    EXPECT_FALSE(queue->finish(job));
    EXPECT_FALSE(queue->next_due());
}

TEST_P(QueueTest, the_time_of_the_first_call_stays) {
    stage("jid");
    const auto first_call = clock.now();
    auto job = take_one();
    EXPECT_TRUE(queue->mark_called(job));
    clock.advance(1s);
    EXPECT_TRUE(queue->mark_called(job));
    EXPECT_EQ(job.called_at, first_call);

    queue->reschedule(job, 0s, "an error");

    EXPECT_EQ(take_one().called_at, first_call);
}

}  // namespace pawl::conformance
