#include "src/queue/embedded/embedded_queue.hpp"

#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

// The embedded queue on each store: its own behaviour.
namespace pawl::conformance {

namespace {

void insert(store::Store& store, const QueueWorld::Job& job, TimePoint now) {
    write_one(
        store,
        sql::insert_job,
        job.jid,
        job.queue,
        job.kind,
        job.args,
        now + job.due_in,
        std::optional{job.key_id},
        now
    );
}

class EmbeddedWorld final : public QueueWorld {
public:
    explicit EmbeddedWorld(Stores stores) : home_{stores, clock}, store_{home_.open_filled()} {}
    store::Store& store() override { return *store_; }
    std::unique_ptr<queue::Queue> open(const std::string& name) override {
        return std::make_unique<queue::EmbeddedQueue>(*store_, name);
    }
    std::unique_ptr<queue::Queue> open_limited(const core::QueueLimits& limits) override {
        return std::make_unique<queue::EmbeddedQueue>(*store_, "default", limits);
    }
    std::unique_ptr<queue::DeadLetters> open_dead_letters() override {
        return std::make_unique<queue::EmbeddedDeadLetters>(*store_);
    }
    std::unique_ptr<queue::Jobs> open_jobs() override {
        return std::make_unique<queue::EmbeddedJobs>(*store_);
    }
    void stage(const Job& job) override { insert(*store_, job, clock.now()); }

private:
    StoreHome home_;
    std::unique_ptr<store::Store> store_;
};

std::vector<QueueKind> embedded_kinds() {
    std::vector<QueueKind> kinds;
    for (const auto stores : all_stores)
        kinds.push_back({name_of(stores), [stores] {
                             return std::make_unique<EmbeddedWorld>(stores);
                         }});
    return kinds;
}
PAWL_ON_QUEUES_WITH_LIMITS(Stores, embedded_kinds());
PAWL_ON_QUEUES_WITH_JOBS(Stores, embedded_kinds());

constexpr Sql count_all_jobs = on_all("count_all_jobs", "SELECT count(*) FROM pawl_jobs");

class EmbeddedQueueTest : public OnEachStore {
protected:
    void stage(const QueueWorld::Job& job) { insert(*store, job, clock.now()); }
    // Polls as a worker does, each 20 ms until the job comes or the time is over; returns how long
    // it took.
    std::chrono::milliseconds look_for(
        std::chrono::milliseconds at_most, const std::string& jid = "no job"
    ) {
        for (auto waited = 0ms;; waited += 20ms) {
            for (const auto& job : queue.claim(10, 1h))
                if (job.raw.jid == jid) return waited;
            if (waited >= at_most) {
                EXPECT_EQ(jid, "no job") << "did not come";
                return waited;
            }
            clock.advance(20ms);
        }
    }
    queue::EmbeddedQueue queue{*store};
};
PAWL_ON_EACH_STORE(EmbeddedQueueTest);

}  // namespace

TEST_P(EmbeddedQueueTest, jobs_are_counted_by_queue_and_state) {
    struct Count {
        std::string queue;
        std::string state;
        int jobs;
        TimePoint oldest;
    };
    stage({.jid = "a"});
    stage({.jid = "b", .due_in = 5s});
    stage({.jid = "c", .queue = "mails"});
    queue.claim(1, 30s).at(0);
    stage({.jid = "d"});
    EXPECT_TRUE(queue.reschedule(queue.claim(1, 30s).at(0), 9s, "an error"));

    const auto counts = read_rows<Count>(*store, sql::count_jobs);

    ASSERT_EQ(counts.size(), 4);
    EXPECT_EQ(counts[0].state, "ready");
    EXPECT_EQ(counts[0].oldest, clock.now() + 5s);
    EXPECT_EQ(counts[1].state, "retrying");
    EXPECT_EQ(counts[1].oldest, clock.now() + 9s);
    EXPECT_EQ(counts[2].state, "running");
    EXPECT_EQ(counts[3].queue, "mails");
}

TEST_P(EmbeddedQueueTest, dead_letters_are_counted_by_queue) {
    struct Count {
        std::string queue;
        int letters;
    };
    stage({.jid = "a", .queue = "mails"});
    stage({.jid = "b"});
    stage({.jid = "c", .queue = "mails"});
    stage({.jid = "d"});
    queue::EmbeddedQueue mails{*store, "mails"};
    for (auto& job : mails.claim(2, 30s)) EXPECT_TRUE(mails.dead_letter(job, "no such mailbox"));
    EXPECT_TRUE(queue.dead_letter(queue.claim(1, 30s).at(0), "no such mailbox"));

    const auto counts = read_rows<Count>(*store, sql::count_dead_jobs);

    ASSERT_EQ(counts.size(), 2);
    EXPECT_EQ(counts[0].queue, "default");
    EXPECT_EQ(counts[0].letters, 1);
    EXPECT_EQ(counts[1].queue, "mails");
    EXPECT_EQ(counts[1].letters, 2);
}

// Checks the results; conformance_on_postgres and every_statement_on_embedded_stores check that the
// statements are combined.
TEST_P(EmbeddedQueueTest, workers_writes_are_combined_while_the_store_is_busy) {
    for (const auto* jid : {"a", "b", "c", "d"}) stage({.jid = jid});
    auto jobs = queue.claim(4, 30s);
    ASSERT_EQ(jobs.size(), 4);
    const auto while_busy = [&](const std::function<bool(queue::ClaimedJob&)>& act) {
        std::promise<void> busy, free;
        std::thread holder{[&] {
            write_now(*store, [&, done = free.get_future().share()](Session&) {
                busy.set_value();
                done.wait();
            });
        }};
        busy.get_future().wait();
        std::vector<std::thread> workers;
        std::atomic<int> well{0};
        for (auto& job : jobs) workers.emplace_back([&] { well += act(job) ? 1 : 0; });
        std::this_thread::sleep_for(50ms);
        free.set_value();
        holder.join();
        for (auto& worker : workers) worker.join();
        return well.load();
    };

    EXPECT_EQ(while_busy([&](queue::ClaimedJob& job) { return queue.mark_called(job); }), 4);
    EXPECT_EQ(while_busy([&](queue::ClaimedJob& job) { return queue.finish(job); }), 4);
    EXPECT_EQ(while_busy([&](queue::ClaimedJob& job) { return queue.finish(job); }), 0);

    EXPECT_EQ(read_rows<std::int64_t>(*store, count_all_jobs).at(0), 0);
}

TEST_P(EmbeddedQueueTest, combined_marks_and_finishes_return_each_workers_own_result) {
    constexpr std::size_t jobs = 160;
    for (std::size_t i = 0; i < jobs; ++i) stage({.jid = std::to_string(i)});
    auto taken = queue.claim(static_cast<int>(jobs), 30s);
    ASSERT_EQ(taken.size(), jobs);
    clock.advance(30s);
    // Another worker has every fourth under the same id: its first worker may not change it.
    ASSERT_EQ(queue.rescue(60s), static_cast<int>(jobs));
    const auto again = queue.claim(static_cast<int>(jobs), 30s);
    for (std::size_t i = 0; i < jobs; ++i)
        if (i % 4 != 0) taken[i] = again[i];
    std::vector<std::thread> workers;
    std::vector<int> marked(jobs), finished(jobs);

    for (std::size_t w = 0; w < 8; ++w)
        workers.emplace_back([&, w] {
            for (std::size_t i = w; i < jobs; i += 8) {
                marked[i] = queue.mark_called(taken[i]) ? 1 : 0;
                finished[i] = queue.finish(taken[i]) ? 1 : 0;
            }
        });
    for (auto& worker : workers) worker.join();

    for (std::size_t i = 0; i < jobs; ++i) {
        EXPECT_EQ(marked[i], i % 4 == 0 ? 0 : 1) << i;
        EXPECT_EQ(finished[i], i % 4 == 0 ? 0 : 1) << i;
        EXPECT_EQ(taken[i].called_at.has_value(), i % 4 != 0) << i;
    }
    EXPECT_EQ(read_rows<std::int64_t>(*store, count_all_jobs).at(0), jobs / 4);
}

TEST_P(EmbeddedQueueTest, a_server_that_starts_frees_its_predecessors_jobs_at_once) {
    stage({.jid = "held"});
    stage({.jid = "ready"});
    const auto held = queue.claim(1, 30s).at(0);

    EXPECT_EQ(write_one(*store, sql::rescue_previous_server_jobs, clock.now()), 1);

    EXPECT_FALSE(queue.finish(held));
    EXPECT_EQ(queue.claim(10, 30s).size(), 2);
}

// Polls begin after what was claimed (src/queue/embedded/poll_cursor.hpp); these jobs come too late
// for that.

TEST_P(EmbeddedQueueTest, a_job_of_a_long_transaction_waits_at_most_ten_times_as_long) {
    struct Late {
        std::string jid;
        std::chrono::milliseconds lasted;
    };
    for (const auto& [jid, lasted] :
         {Late{"a", 40ms}, Late{"b", 60ms}, Late{"c", 450ms}, Late{"d", 700ms}, Late{"e", 5s}}) {
        SCOPED_TRACE(jid);
        look_for(1s);
        const auto began = clock.now();
        look_for(lasted);
        insert(*store, {.jid = jid}, began);

        const auto waited = look_for(60s, jid);

        EXPECT_LE(waited, 10 * lasted);
        if (lasted <= 50ms) {
            EXPECT_EQ(waited, 0ms) << "as nearly all are";
        }
    }
}

TEST_P(EmbeddedQueueTest, a_job_due_long_ago_that_was_invisible_is_claimed_after_the_next_rescue) {
    look_for(1s);
    insert(*store, {.jid = "restored"}, clock.now() - 1h);
    EXPECT_TRUE(queue.claim(10, 30s).empty()) << "looks begin behind it";

    queue.rescue(60s);

    EXPECT_EQ(look_for(0s, "restored"), 0ms);
}

TEST_P(EmbeddedQueueTest, jobs_due_long_ago_are_claimed_in_order_in_batches_of_any_size) {
    look_for(1s);
    for (int n = 0; n < 5; ++n)
        insert(*store, {.jid = "old " + std::to_string(n)}, clock.now() - 1h + n * 1min);
    stage({.jid = "new"});
    queue.rescue(60s);

    std::vector<std::string> taken;
    for (int poll = 0; poll < 4; ++poll) {
        for (const auto& job : queue.claim(2, 30s)) taken.push_back(job.raw.jid);
        clock.advance(1s);
    }

    EXPECT_EQ(
        taken, (std::vector<std::string>{"old 0", "old 1", "old 2", "old 3", "old 4", "new"})
    );
}

TEST_P(EmbeddedQueueTest, after_the_clock_was_set_back_jobs_are_claimed_at_once) {
    look_for(1s);
    clock.advance(-1h);
    stage({.jid = "jid"});

    EXPECT_EQ(look_for(0s, "jid"), 0ms);
}

TEST_P(EmbeddedQueueTest, a_job_that_another_server_gave_back_is_claimed_within_ten_times_as_long) {
    if (!is_postgres(GetParam())) GTEST_SKIP() << "one writer: no two claims at once";
    look_for(2s);
    stage({.jid = "held"});
    std::promise<void> claimed, free;
    const auto other = open();
    std::thread holder{[&] {
        EXPECT_ANY_THROW(write_now(*other, [&, done = free.get_future().share()](Session& session) {
            change(
                session,
                sql::claim_jobs,
                "default",
                clock.now(),
                clock.now() + 30s,
                1,
                TimePoint{},
                0,
                0,
                "[]",
                std::optional<std::int64_t>{},
                1
            );
            claimed.set_value();
            done.wait();
            throw std::runtime_error{"it stops"};
        }));
    }};
    claimed.get_future().wait();
    stage({.jid = "another"});
    EXPECT_EQ(look_for(0s, "another"), 0ms);
    look_for(400ms);  // By our clock, which moves the positions.
    free.set_value();
    holder.join();

    EXPECT_LE(look_for(10s, "held"), 4s);
}

TEST_P(EmbeddedQueueTest, a_poll_without_due_jobs_costs_no_commit) {
    stage({.jid = "later", .due_in = 1h});
    const auto before = store->stats().commits;

    EXPECT_TRUE(queue.claim(10, 30s).empty());

    EXPECT_EQ(store->stats().commits, before);
}

TEST_P(EmbeddedQueueTest, a_claim_after_a_full_one_does_not_look_first_and_the_next_one_does) {
    stage({.jid = "a"});
    stage({.jid = "b"});
    stage({.jid = "later", .due_in = 1h});
    auto& trace = dynamic_cast<RecordingStore&>(*store).trace();
    const auto looks = [&] { return std::ranges::count(trace.take(), "next_job_at"); };

    EXPECT_EQ(queue.claim(1, 30s).size(), 1);
    EXPECT_EQ(looks(), 1);
    EXPECT_EQ(queue.claim(1, 30s).size(), 1);
    EXPECT_EQ(looks(), 0);
    EXPECT_TRUE(queue.claim(1, 30s).empty());
    EXPECT_EQ(looks(), 0) << "the last claim was full, too";
    EXPECT_TRUE(queue.claim(1, 30s).empty());
    EXPECT_EQ(looks(), 1);
}

}  // namespace pawl::conformance
