#include "src/core/fault.hpp"
#include "src/ops/in_flight_jobs.hpp"
#include "src/queue/redis/redis_queue.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/redis/redis_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

// The Redis queue's own behaviour; tests/conformance has what is common to all queues.
namespace pawl::testing {
namespace {

using conformance::HandClock;
using conformance::read_rows;
using conformance::write_now;
using queue::ClaimedJob;
using queue::FinishResult;
using queue::RedisDeadLetters;
using queue::RedisPusher;
using queue::RedisQueue;
using queue::StagedJob;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = StoreError::Kind;
using Texts = std::vector<std::string>;

constexpr Sql audit_details =
    conformance::on_all("audit_details", "SELECT detail FROM pawl_audit_log ORDER BY id");

class RedisQueueTest : public ::testing::Test {
protected:
    RedisQueueTest() { store::apply_migrations(store, "pawl", sql::migrations::all); }
    ~RedisQueueTest() override { core::on_fault_point(nullptr); }

    ClaimedJob take_one() { return queue.claim(1, 30s).at(0); }
    std::int64_t length(const std::string& key) { return server.ask({"LLEN", key}).integer; }
    FinishResult mark_done(const ClaimedJob& job) {
        return write_now(store, [&](store::Session& session) {
            return queue.finish_in_transaction(session, job);
        });
    }

    RedisServer& server = empty_redis();
    HandClock clock;
    memory::MemoryStore store{clock};
    Client client{server.options(), &clock};
    RedisQueue queue{client};
    RedisDeadLetters letters{client, store};
    const queue::AuditEntry act{"ann", "the mail server is back"};
};

TEST_F(RedisQueueTest, two_workers_never_have_one_job) {
    constexpr int jobs = 400;
    for (int i = 0; i < jobs; ++i) push(client, staged(long_id(i)));
    std::mutex mutex;
    std::set<std::string> in_flight;
    int finished = 0;
    std::vector<std::thread> workers;

    for (int w = 0; w < 4; ++w)
        workers.emplace_back([&] {
            for (auto taken = queue.claim(7, 30s); !taken.empty(); taken = queue.claim(7, 30s))
                for (const auto& job : taken) {
                    {
                        const std::lock_guard lock{mutex};
                        EXPECT_TRUE(in_flight.insert(job.raw.jid).second) << job.raw.jid;
                    }
                    const bool done = queue.finish(job);
                    const std::lock_guard lock{mutex};
                    finished += done ? 1 : 0;
                }
        });
    for (auto& worker : workers) worker.join();

    EXPECT_EQ(finished, jobs);
    EXPECT_EQ(in_flight.size(), jobs);
    EXPECT_EQ(server.ask({"EXISTS", "pawl:work:default", "pawl:leases:default"}).integer, 0);
}

TEST_F(RedisQueueTest, acknowledged_jobs_survive_kill_9) {
    RedisServer mortal;
    Client to_mortal{mortal.options()};
    std::mutex mutex;
    std::condition_variable many;
    std::set<std::string> acknowledged;
    std::thread pusher{[&] {
        for (int i = 0;; ++i) {
            if (error_of([&] { push(to_mortal, staged(long_id(i))); })) return;
            const std::lock_guard lock{mutex};
            acknowledged.insert(long_id(i));
            if (acknowledged.size() >= 200) many.notify_one();
        }
    }};
    {
        std::unique_lock lock{mutex};
        EXPECT_TRUE(many.wait_for(lock, 60s, [&] { return acknowledged.size() >= 200; }));
    }

    mortal.kill();
    pusher.join();
    mortal.restart();

    RedisQueue there{to_mortal};
    std::set<std::string> found;
    for (const auto& job : there.claim(100'000, 30s)) found.insert(job.raw.jid);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), acknowledged.begin(), acknowledged.end())
    );
    EXPECT_LE(found.size(), acknowledged.size() + 1) << "one answer may have been lost";
}

TEST_F(RedisQueueTest, a_claimed_job_survives_a_restart_of_redis) {
    RedisServer mortal;
    Client to_mortal{mortal.options(), &clock};
    RedisQueue there{to_mortal};
    push(to_mortal, staged("j"));
    const auto job = there.claim(1, 30s).at(0);
    mortal.kill();
    EXPECT_TRUE(error_of([&] { there.renew(job, 30s); }));

    mortal.restart();

    EXPECT_TRUE(there.renew(job, 30s));
    EXPECT_TRUE(there.finish(job));
}

// A Redis that lost its last writes counts claims anew.
TEST_F(RedisQueueTest, a_repeated_claim_number_still_fences) {
    push(client, staged("a"));
    const auto old = take_one();
    clock.advance(30s);
    EXPECT_EQ(queue.rescue(60s), 1);
    server.ask({"DEL", "pawl:claims"});

    const auto mine = take_one();

    EXPECT_EQ(mine.claim, old.claim);
    EXPECT_FALSE(queue.finish(old));
    EXPECT_TRUE(queue.finish(mine));
}

// Each claim has an id of its own; the end of the first leaves the second.
TEST_F(RedisQueueTest, a_job_claimed_again_after_a_loss_stays_claimed) {
    ops::InFlightJobs in_flight{clock};
    push(client, staged("a"));
    const auto lost = take_one();
    in_flight.add({lost}, {});
    clock.advance(30s);
    EXPECT_EQ(queue.rescue(60s), 1);
    const auto mine = take_one();
    in_flight.add({mine}, {});

    in_flight.leave(lost.id, lost.claim);

    ASSERT_THAT(in_flight.held_for(0ms), SizeIs(1));
    EXPECT_TRUE(queue.renew(in_flight.held_for(0ms).at(0), 30s))
        << "its lease is the one that holds";
    in_flight.leave(mine.id, mine.claim);
    EXPECT_THAT(in_flight.held_for(0ms), SizeIs(0));
}

// Found by a kill between push and delete: one job was dead twice (I18).
TEST_F(RedisQueueTest, a_job_that_is_pushed_twice_is_there_once) {
    RedisPusher one{client}, another{client};
    const std::vector<StagedJob> jobs{staged("a"), staged("b")};
    EXPECT_THAT(one.push(jobs).sent, SizeIs(2));

    EXPECT_THAT(another.push(jobs).sent, SizeIs(2)) << "sent: its staged row can go";

    EXPECT_EQ(length("queue:default"), 2);
    const auto taken = queue.claim(10, 30s);
    EXPECT_TRUE(queue.finish(taken.at(0)) && queue.finish(taken.at(1)));
    another.push(jobs);
    EXPECT_EQ(length("queue:default"), 0) << "done, and not again";
}

TEST_F(RedisQueueTest, only_pushed_jobs_that_may_come_again_are_remembered) {
    const auto remembered = [this] { return server.ask({"ZCARD", "pawl:pushed"}).integer; };
    RedisPusher pusher{client};
    for (int batch = 0; batch < 3; ++batch) {
        std::vector<StagedJob> jobs;
        Texts jids;
        for (int i = 0; i < 1'500; ++i) {
            jids.push_back(long_id(batch * 10'000 + i));
            jobs.push_back(staged(jids.back()));
        }
        EXPECT_THAT(pusher.push(jobs).sent, SizeIs(1'500));
        pusher.forget(jids);
        EXPECT_EQ(remembered(), 1'500);
    }

    clock.advance(std::chrono::hours{7 * 24});
    RedisPusher of_another_server{client};
    const auto job = staged("j");
    of_another_server.push(std::span{&job, 1});

    EXPECT_EQ(remembered(), 1) << "of what nobody ended";
    EXPECT_EQ(length("queue:default"), 4'501);
}

// As by an enqueuer that was paused for longer than its claim.
TEST_F(RedisQueueTest, a_job_that_was_delivered_twice_is_done_once) {
    push(client, staged("j"));
    server.ask({"DEL", "pawl:pushed"});
    push(client, staged("j"));
    const auto jobs = queue.claim(10, 30s);
    ASSERT_EQ(jobs.size(), 2);

    EXPECT_EQ(mark_done(jobs[0]), FinishResult::done);
    EXPECT_EQ(mark_done(jobs[1]), FinishResult::done_before);

    for (const auto& job : jobs) queue.finished(job);
    EXPECT_FALSE(queue.next_due());
}

TEST_F(RedisQueueTest, a_worker_that_dies_before_finishing_in_redis_leaves_a_done_job) {
    push(client, staged("j"));
    const auto job = take_one();
    EXPECT_EQ(mark_done(job), FinishResult::done);
    die_at("redis.finish.before");
    EXPECT_ANY_THROW(queue.finished(job));
    core::on_fault_point(nullptr);
    clock.advance(30s);

    EXPECT_EQ(queue.rescue(60s), 1);

    EXPECT_EQ(mark_done(take_one()), FinishResult::done_before);
}

TEST_F(RedisQueueTest, a_rescued_job_is_the_first_again) {
    for (const auto* jid : {"a", "b", "c"}) push(client, staged(jid));
    queue.claim(2, 30s);
    clock.advance(30s);
    EXPECT_EQ(queue.rescue(60s), 2);

    Texts order;
    for (const auto& job : queue.claim(3, 30s)) order.push_back(job.raw.jid);

    EXPECT_THAT(order, ElementsAre("a", "b", "c"));
}

TEST_F(RedisQueueTest, many_ended_leases_are_all_rescued) {
    for (int i = 0; i < 250; ++i) push(client, staged(long_id(i)));
    EXPECT_EQ(queue.claim(250, 30s).size(), 250);
    clock.advance(30s);

    EXPECT_EQ(queue.rescue(60s), 250);
    EXPECT_EQ(queue.rescue(60s), 0);
}

TEST_F(RedisQueueTest, due_jobs_of_other_queues_are_moved_to_them) {
    RedisQueue mails{client, "mails"};
    auto job = staged("j");
    job.queue = "mails";
    push(client, job);
    mails.reschedule(mails.claim(1, 30s).at(0), 0s, "an error");
    server.ask({"DEL", "queues"});

    EXPECT_TRUE(queue.claim(10, 30s).empty());

    EXPECT_EQ(length("queue:mails"), 1);
    EXPECT_EQ(server.ask({"SISMEMBER", "queues", "mails"}).integer, 1) << "it is listed";
}

// Issue 16, number 22: Sidekiq's pages show them separately.
TEST_F(RedisQueueTest, failed_jobs_are_in_retry_and_delayed_ones_in_schedule) {
    push(client, staged("a"));
    push(client, staged("b"));

    queue.reschedule(take_one(), 1min, "an error");
    EXPECT_EQ(server.ask({"ZCARD", "retry"}).integer, 1);
    EXPECT_EQ(server.ask({"ZCARD", "schedule"}).integer, 0);

    queue.reschedule(take_one(), 1min, std::nullopt);
    EXPECT_EQ(server.ask({"ZCARD", "retry"}).integer, 1);
    EXPECT_EQ(server.ask({"ZCARD", "schedule"}).integer, 1);
}

TEST_F(RedisQueueTest, a_job_that_names_no_queue_comes_back_to_the_one_it_was_taken_from) {
    RedisQueue mails{client, "mails"};
    server.ask({"LPUSH", "queue:mails", R"({"class":"C","jid":"j","args":[]})"});
    EXPECT_TRUE(mails.reschedule(mails.claim(1, 30s).at(0), 0s, "an error"));

    EXPECT_TRUE(queue.claim(10, 30s).empty());

    EXPECT_EQ(length("queue:mails"), 1);
}

TEST_F(RedisQueueTest, more_than_one_round_of_due_jobs_is_moved) {
    for (int i = 0; i < 150; ++i) push(client, staged(long_id(i)));
    for (const auto& job : queue.claim(150, 30s)) queue.reschedule(job, 1s, std::nullopt);
    clock.advance(1s);

    EXPECT_EQ(queue.claim(150, 30s).size() + queue.claim(150, 30s).size(), 150);
}

TEST_F(RedisQueueTest, large_jobs_are_taken_in_several_rounds) {
    const auto args = "\"" + std::string(7'000'000, 'x') + "\"";
    for (int i = 0; i < 4; ++i) push(client, staged(long_id(i), args));

    EXPECT_EQ(queue.claim(10, 30s).size(), 3) << "16 MiB are enough at once";
    EXPECT_EQ(queue.claim(10, 30s).size(), 1);
}

TEST_F(RedisQueueTest, a_job_that_is_too_large_is_refused_and_the_others_are_sent) {
    std::vector<StagedJob> jobs{
        staged("a"), staged("b", "\"" + std::string(9'000'000, 'x') + "\""), staged("c")};
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].id = static_cast<std::int64_t>(i + 1);

    const auto report = RedisPusher{client}.push(jobs);

    EXPECT_THAT(report.sent, ElementsAre(1, 3));
    ASSERT_EQ(report.refused.size(), 1);
    EXPECT_EQ(report.refused[0].id, 2);
    EXPECT_EQ(length("queue:default"), 2);
}

TEST_F(RedisQueueTest, a_batch_of_any_size_is_sent_whole_and_in_order) {
    std::vector<StagedJob> jobs;
    for (int i = 0; i < 2'500; ++i) {
        jobs.push_back(staged(long_id(i)));
        jobs.back().id = i;
        if (i % 3 == 0) jobs.back().queue = "mails";
    }

    EXPECT_EQ(RedisPusher{client}.push(jobs).sent.size(), 2'500);

    EXPECT_EQ(length("queue:default") + length("queue:mails"), 2'500);
    EXPECT_EQ(take_one().raw.jid, long_id(1));
    EXPECT_EQ(server.ask({"SCARD", "queues"}).integer, 2);
}

TEST_F(RedisQueueTest, a_redis_without_memory_loses_nothing_and_jobs_can_finish) {
    push(client, staged("ends"));
    push(client, staged("fails"));
    push(client, staged("waits"));
    const auto ends = take_one();
    const auto fails = take_one();
    server.ask({"CONFIG", "SET", "maxmemory", "1"});

    EXPECT_EQ(error_of([&] { push(client, staged("new")); })->kind(), Kind::full);
    EXPECT_EQ(error_of([&] { take_one(); })->kind(), Kind::full);
    EXPECT_EQ(error_of([&] { queue.reschedule(fails, 0s, "e"); })->kind(), Kind::full);
    EXPECT_EQ(error_of([&] { queue.dead_letter(fails, "e"); })->kind(), Kind::full);
    EXPECT_TRUE(queue.finish(ends));

    server.ask({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_TRUE(queue.reschedule(fails, 0s, "e"));
    EXPECT_EQ(queue.claim(10, 30s).size(), 2);
}

TEST_F(RedisQueueTest, a_script_that_fails_midway_loses_no_job) {
    push(client, staged("j"));
    const auto job = take_one();
    server.ask({"SET", "dead", "of another application"});

    const auto failed = error_of([&] { queue.dead_letter(job, "e"); });

    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind(), Kind::statement);
    server.ask({"DEL", "dead"});
    EXPECT_TRUE(queue.dead_letter(job, "e"));
}

TEST_F(
    RedisQueueTest, a_payload_that_is_not_json_is_claimed_dead_lettered_and_merged_byte_for_byte
) {
    const std::string garbage{"\xFFnot json\x00\r\n", 12};
    server.ask({"LPUSH", "queue:default", garbage});
    server.ask({"ZADD", "retry", "5", garbage + "2"});
    const auto jobs = queue.claim(10, 30s);
    ASSERT_EQ(jobs.size(), 2) << "in a set it stops nobody behind it";
    EXPECT_EQ(jobs[0].kind, "");
    EXPECT_EQ(jobs[0].raw.args, garbage);

    EXPECT_TRUE(queue.dead_letter(jobs[0], "no handler"));
    const auto letter = letters.page({}, "", 10).at(0);
    EXPECT_EQ(letter.args, garbage);
    EXPECT_EQ(letter.jid, jobs[0].raw.jid);
    EXPECT_EQ(letters.merge(Texts{letter.id}, act, std::nullopt).done, 1);

    EXPECT_EQ(server.ask({"SISMEMBER", "queues", "default"}).integer, 1) << "else Ruby hides it";
    EXPECT_EQ(server.ask({"LINDEX", "queue:default", "0"}).text, garbage);
}

TEST_F(RedisQueueTest, a_purge_that_dies_is_in_the_audit_and_can_be_done_again) {
    push(client, staged("j"));
    queue.dead_letter(take_one(), "e");
    const auto id = letters.page({}, "", 1).at(0).id;
    die_at("redis.purge.before");
    EXPECT_ANY_THROW(letters.purge(Texts{id}, act));
    EXPECT_EQ(read_rows<std::string>(store, audit_details).size(), 1);
    EXPECT_TRUE(letters.find(id));

    die_at("redis.purge.after");
    EXPECT_ANY_THROW(letters.purge(Texts{id}, act));

    EXPECT_FALSE(letters.find(id));
    const auto rows = read_rows<std::string>(store, audit_details);
    ASSERT_EQ(rows.size(), 2);
    EXPECT_THAT(rows[1], HasSubstr(id));
    EXPECT_THAT(rows[1], HasSubstr("\"jids\":[\"j\"]"));
}

TEST_F(RedisQueueTest, a_merge_that_crashes_anywhere_and_is_repeated_makes_one_job) {
    for (const auto* point : {"redis.merge.before", "redis.merge.after"}) {
        push(client, staged(std::string{"of "} + point));
        queue.dead_letter(take_one(), "e");
        const auto id = letters.page({}, "", 1).at(0).id;
        die_at(point);
        EXPECT_ANY_THROW(letters.merge(Texts{id}, act, clock.now()));
        core::on_fault_point(nullptr);

        letters.merge(Texts{id}, act, clock.now());

        const auto jobs = queue.claim(10, 30s);
        EXPECT_EQ(jobs.size(), 1) << point;
        for (const auto& job : jobs) queue.finish(job);
        EXPECT_FALSE(letters.find(id));
        clock.advance(1s);
    }
    EXPECT_EQ(read_rows<std::string>(store, audit_details).size(), 3);
}

TEST_F(RedisQueueTest, concurrent_purges_and_merges_do_each_letter_once) {
    constexpr int jobs = 60;
    for (int i = 0; i < jobs; ++i) push(client, staged(long_id(i)));
    for (const auto& job : queue.claim(jobs, 30s)) queue.dead_letter(job, "e");
    Texts ids;
    for (const auto& letter : letters.page({}, "", jobs)) ids.push_back(letter.id);
    std::atomic<int> purged{0};
    std::atomic<int> merged{0};

    std::thread other{[&] {
        for (const auto& id : ids) purged += letters.purge(Texts{id}, act).done;
    }};
    for (const auto& id : ids) merged += letters.merge(Texts{id}, act, clock.now()).done;
    other.join();

    EXPECT_EQ(purged + merged, jobs);
    EXPECT_EQ(length("queue:default"), merged);
}

TEST_F(RedisQueueTest, jobs_that_died_at_one_moment_are_each_listed_once) {
    for (int i = 0; i < 350; ++i) server.ask({"ZADD", "dead", "5", "garbage " + std::to_string(i)});
    std::set<std::string> ids;
    std::string after;

    for (auto page = letters.page({}, after, 40); !page.empty();
         page = letters.page({}, after, 40)) {
        for (const auto& letter : page) EXPECT_TRUE(ids.insert(letter.id).second);
        after = page.back().id;
    }

    EXPECT_EQ(ids.size(), 350);
    EXPECT_EQ(letters.purge(Texts{ids.begin(), ids.end()}, act).done, 350);
}

TEST_F(RedisQueueTest, without_a_tests_clock_time_is_redis_own) {
    Client plain{server.options()};
    RedisQueue of_redis{plain};
    push(plain, staged("j"));
    auto job = of_redis.claim(1, 30s).at(0);
    EXPECT_TRUE(of_redis.mark_called(job));
    EXPECT_TRUE(of_redis.renew(job, 30s));
    EXPECT_EQ(of_redis.rescue(30s), 0);

    EXPECT_TRUE(of_redis.dead_letter(job, "e"));

    const auto time = server.ask({"TIME"});
    const TimePoint now{std::chrono::seconds{std::stoll(time.items.at(0).text)}};
    const auto letter = RedisDeadLetters{plain, store}.page({}, "", 1).at(0);
    EXPECT_LE(std::chrono::abs(letter.died_at - now), 60s);
    EXPECT_LE(std::chrono::abs(*letter.called_at - now), 60s);
}

}  // namespace
}  // namespace pawl::testing
