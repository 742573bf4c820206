#include "src/core/fault.hpp"
#include "src/queue/redis/redis_jobs.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/redis/redis_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

// What people see and change of jobs in Redis alone; tests/conformance has what is common to all
// queues.
namespace pawl::testing {
namespace {

using conformance::HandClock;
using conformance::read_rows;
using queue::RedisDeadLetters;
using queue::RedisJobs;
using queue::RedisQueue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Texts = std::vector<std::string>;

constexpr Sql audit_texts =
    conformance::on_all("audit_texts", "SELECT detail FROM pawl_audit_log ORDER BY id");

class RedisJobsTest : public ::testing::Test {
protected:
    RedisJobsTest() { store::apply_migrations(store, "pawl", sql::migrations::all); }
    ~RedisJobsTest() override { core::on_fault_point(nullptr); }

    Texts listed(const queue::JobFilter& filter = {}) {
        Texts found;
        for (const auto& job : jobs.page(filter, "", 10'000)) found.push_back(job.jid);
        return found;
    }

    RedisServer& server = empty_redis();
    HandClock clock;
    memory::MemoryStore store{clock};
    Client client{server.options(), &clock};
    RedisQueue queue{client};
    RedisDeadLetters letters{client, store};
    RedisJobs jobs{client, store, {"own"}};
    const queue::AuditEntry act{"ann", "a wrong address"};
};

TEST_F(RedisJobsTest, a_payload_that_is_not_a_job_is_shown_as_damaged_and_cancelled_byte_for_byte) {
    const std::string garbage{"\xFFnot json\x00\r\n", 12};
    server.ask({"LPUSH", "queue:own", garbage});
    server.ask({"ZADD", "retry", "1e300", R"({"class":"C"})"});
    server.ask({"HSET", "pawl:work:own", "1-1", "[]"});

    const auto shown = jobs.page({}, "", 10);

    ASSERT_THAT(shown, SizeIs(3));
    std::set<std::string> args, states;
    Texts ids;
    for (const auto& job : shown) {
        EXPECT_THAT(job.damaged.problem, HasSubstr("class and a jid"));
        EXPECT_THAT(job.damaged.columns, ElementsAre("kind", "created_at"));
        EXPECT_EQ(job.id.size(), 24);
        args.insert(job.args);
        states.insert(job.state);
        ids.push_back(job.id);
    }
    EXPECT_EQ(args, (std::set<std::string>{garbage, R"({"class":"C"})", "[]"}));
    EXPECT_EQ(states, (std::set<std::string>{"due", "later", "running"}));
    EXPECT_THAT(listed({.created_before = clock.now()}), SizeIs(3)) << "so that --all has them";
    EXPECT_EQ(jobs.cancel(ids, act).cancelled, 3);
    EXPECT_THAT(listed(), IsEmpty());
    EXPECT_FALSE(server.ask({"ZSCORE", "dead", garbage}).is_nil());
    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, 3);
}

TEST_F(RedisJobsTest, a_job_of_ruby_keeps_its_members) {
    const std::string job{
        R"({"class":"Mail","args":[1,2],"retry":5,"queue":"own","jid":"r1","created_at":1795250000.5,)"
        R"("retry_count":0,"failed_at":1795250001.5,"error_class":"Net::Timeout",)"
        R"("error_message":"late","tags":["x"]})"};
    server.ask({"ZADD", "retry", "99999999999", job});

    const auto shown = jobs.find("r1");
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->state, "retrying");
    EXPECT_EQ(shown->queue, "own");
    EXPECT_EQ(shown->args, "[1,2]");
    EXPECT_EQ(shown->error, "Net::Timeout: late");
    EXPECT_EQ(shown->failures, 1);
    EXPECT_EQ(jobs.cancel(Texts{"r1"}, act).cancelled, 1);

    const auto dead = server.ask({"ZRANGE", "dead", "0", "-1"}).items.at(0).text;
    EXPECT_THAT(dead, HasSubstr(R"("retry":5,)"));
    EXPECT_THAT(dead, HasSubstr(R"("retry_count":0,"failed_at":1795250001.5,)"));
    EXPECT_THAT(dead, HasSubstr(R"("tags":["x"])"));
    EXPECT_THAT(dead, HasSubstr(R"("error_class":"PawlCancelled")"));
}

TEST_F(RedisJobsTest, a_merged_job_returns_to_the_queue_that_it_was_cancelled_in) {
    server.ask({"LPUSH", "queue:own", R"({"class":"C","jid":"j","queue":"another"})"});
    EXPECT_EQ(jobs.find("j")->queue, "own");
    EXPECT_EQ(jobs.cancel(Texts{"j"}, act).cancelled, 1);
    const auto letter = letters.page({}, "", 1).at(0);
    EXPECT_EQ(letter.queue, "own");

    EXPECT_EQ(letters.merge(Texts{letter.id}, act, std::nullopt).done, 1);

    EXPECT_EQ(server.ask({"LLEN", "queue:own"}).integer, 1);
}

TEST_F(RedisJobsTest, each_cancelled_job_has_a_time_of_death_of_its_own) {
    for (const auto* jid : {"a", "b", "c"}) push(client, staged(jid));
    EXPECT_EQ(jobs.cancel(Texts{"a", "b"}, act).cancelled, 2);
    EXPECT_EQ(jobs.cancel(Texts{"c"}, act).cancelled, 1);

    std::set<std::string> scores;
    const auto dead = server.ask({"ZRANGE", "dead", "0", "-1", "WITHSCORES"});
    for (std::size_t i = 1; i < dead.items.size(); i += 2) scores.insert(dead.items[i].text);

    EXPECT_THAT(scores, SizeIs(3));
    EXPECT_EQ(letters.page({}, "", 10).back().jid, "c");
}

TEST_F(RedisJobsTest, copies_of_a_job_are_one_and_all_are_cancelled) {
    push(client, staged("twin"));
    const auto held = queue.claim(1, 30s).at(0);
    server.ask({"LPUSH", "queue:default", held.held, held.held});
    server.ask({"ZADD", "schedule", "99999999999", held.held});

    EXPECT_THAT(listed(), ElementsAre("twin"));
    EXPECT_EQ(jobs.find("twin")->state, "running");
    EXPECT_THAT(listed({.state = "due"}), ElementsAre("twin")) << "a filter sees each copy";
    const auto done = jobs.cancel(Texts{"twin"}, act);

    EXPECT_EQ(done.cancelled, 1);
    EXPECT_EQ(done.running, 1);
    EXPECT_THAT(listed(), IsEmpty());
    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, 1);
    EXPECT_FALSE(queue.finish(held));
}

TEST_F(RedisJobsTest, lists_and_sets_are_read_in_chunks_without_gap) {
    constexpr int count = 350;
    redis::Command to_list{"LPUSH", "queue:default"};
    redis::Command to_set{"ZADD", "schedule"};
    const auto payload = [](const std::string& jid) {
        return R"({"class":"C","jid":")" + jid + R"("})";
    };
    for (int i = 0; i < count; ++i) {
        to_list.push_back(payload("list" + std::to_string(i)));
        to_set.insert(to_set.end(), {"99999999999", payload("set" + std::to_string(i))});
    }
    server.ask({"SADD", "queues", "default"});
    server.ask(to_list);
    server.ask(to_set);

    EXPECT_THAT(listed(), SizeIs(2 * count));
    EXPECT_THAT(listed({.state = "later"}), SizeIs(count));

    EXPECT_THAT(queue.claim(count, 30s), SizeIs(count));

    EXPECT_THAT(listed({.state = "running"}), SizeIs(count));
}

TEST_F(RedisJobsTest, a_job_that_moves_between_read_and_cancel_is_cancelled_all_the_same) {
    push(client, staged("moves"));
    std::optional<queue::ClaimedJob> held;
    core::on_fault_point([&](std::string_view name) {
        if (name == "redis.cancel.before" && !held) held = queue.claim(1, 30s).at(0);
    });

    const auto done = jobs.cancel(Texts{"moves"}, act);

    EXPECT_EQ(done.cancelled, 1);
    EXPECT_EQ(done.running, 1);
    EXPECT_FALSE(queue.finish(*held));
    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, 1);
    EXPECT_THAT(read_rows<std::string>(store, audit_texts), SizeIs(1));
}

TEST_F(RedisJobsTest, a_job_that_ends_between_read_and_cancel_is_not_dead) {
    for (const auto* jid : {"finished", "removed"}) push(client, staged(jid));
    const auto held = queue.claim(1, 30s).at(0);
    core::on_fault_point([&](std::string_view name) {
        if (name != "redis.cancel.before") return;
        queue.finish(held);
        server.ask({"DEL", "queue:default"});
    });

    const auto done = jobs.cancel(Texts{"finished", "removed"}, act);

    EXPECT_EQ(done.cancelled, 0);
    EXPECT_EQ(done.gone, 2);
    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, 0);
}

TEST_F(RedisJobsTest, a_cancel_that_dies_is_in_the_audit_and_can_be_done_again) {
    push(client, staged("j"));
    die_at("redis.cancel.before");
    EXPECT_ANY_THROW(jobs.cancel(Texts{"j"}, act));
    EXPECT_THAT(listed(), ElementsAre("j"));
    ASSERT_THAT(read_rows<std::string>(store, audit_texts), SizeIs(1));
    EXPECT_THAT(read_rows<std::string>(store, audit_texts)[0], HasSubstr(R"("jobs":["j"])"));

    die_at("redis.cancel.after");
    EXPECT_ANY_THROW(jobs.cancel(Texts{"j"}, act));
    core::on_fault_point(nullptr);

    EXPECT_EQ(jobs.cancel(Texts{"j"}, act).gone, 1);
    EXPECT_THAT(letters.page({}, "", 10), SizeIs(1));
}

TEST_F(RedisJobsTest, a_retry_that_dies_is_in_the_audit_and_can_be_done_again) {
    push(client, staged("j"));
    EXPECT_TRUE(queue.reschedule(queue.claim(1, 30s).at(0), 1h, "e"));
    die_at("redis.retry.before");
    EXPECT_ANY_THROW(jobs.retry_now(Texts{"j"}, act));
    EXPECT_THAT(read_rows<std::string>(store, audit_texts), SizeIs(1));
    EXPECT_THAT(queue.claim(1, 30s), IsEmpty());
    core::on_fault_point(nullptr);

    EXPECT_EQ(jobs.retry_now(Texts{"j"}, act).due, 1);

    EXPECT_THAT(queue.claim(1, 30s), SizeIs(1));
}

TEST_F(RedisJobsTest, a_job_that_becomes_due_between_read_and_retry_is_left) {
    push(client, staged("j"));
    EXPECT_TRUE(queue.reschedule(queue.claim(1, 30s).at(0), 1h, "e"));
    core::on_fault_point([&](std::string_view name) {
        if (name == "redis.retry.before") clock.advance(2h);
    });

    const auto done = jobs.retry_now(Texts{"j"}, act);

    EXPECT_EQ(done.due, 0);
    EXPECT_EQ(done.left, 1);
    EXPECT_THAT(listed({.state = "due"}), ElementsAre("j"));
}

TEST_F(RedisJobsTest, a_cancel_that_fails_midway_loses_no_job) {
    push(client, staged("waits"));
    push(client, staged("runs"));
    queue.claim(1, 30s);
    server.ask({"SET", "dead", "of another application"});
    EXPECT_TRUE(error_of([&] { jobs.cancel(Texts{"waits", "runs"}, act); }));
    EXPECT_THAT(listed(), SizeIs(2));
    server.ask({"DEL", "dead"});

    EXPECT_EQ(jobs.cancel(Texts{"waits", "runs"}, act).cancelled, 2);
}

TEST_F(RedisJobsTest, jobs_are_cancelled_while_workers_claim_and_finish_them_each_once) {
    constexpr int count = 300;
    Texts ids;
    for (int i = 0; i < count; ++i) {
        ids.push_back(long_id(i));
        push(client, staged(ids.back()));
    }
    int finished = 0;
    std::thread worker{[&] {
        for (auto held = queue.claim(3, 30s); !held.empty(); held = queue.claim(3, 30s))
            for (const auto& job : held) finished += queue.finish(job) ? 1 : 0;
    }};
    int cancelled = 0;
    for (std::size_t at = 0; at < ids.size(); at += 30)
        cancelled += jobs.cancel(std::span{ids}.subspan(at, 30), act).cancelled;
    worker.join();

    EXPECT_EQ(finished + cancelled, count);
    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, cancelled);
    EXPECT_THAT(listed(), IsEmpty());
}

}  // namespace
}  // namespace pawl::testing
