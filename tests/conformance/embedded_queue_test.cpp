#include "src/queue/embedded/embedded_queue.hpp"

#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"

#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

// The embedded queue, on each store; and what it alone does.
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
        std::optional<std::int64_t>{7},
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
    std::unique_ptr<queue::DeadLetters> open_dead_letters() override {
        return std::make_unique<queue::EmbeddedDeadLetters>(*store_);
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
PAWL_ON_QUEUES_WITH_LEASES(Stores, embedded_kinds());

constexpr Sql count_all_jobs = on_all("count_all_jobs", "SELECT count(*) FROM jobs");

class EmbeddedQueueTest : public OnEachStore {
protected:
    void stage(const QueueWorld::Job& job) { insert(*store, job, clock.now()); }
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
    queue.take(1, 30s).at(0);

    const auto counts = read_rows<Count>(*store, sql::count_jobs);

    ASSERT_EQ(counts.size(), 3);
    EXPECT_EQ(counts[0].state, "ready");
    EXPECT_EQ(counts[0].oldest, clock.now() + 5s);
    EXPECT_EQ(counts[1].state, "running");
    EXPECT_EQ(counts[2].queue, "mails");
}

// What is true of each; every_statement_is_executed_by_a_test sees that they go by one statement.
TEST_P(EmbeddedQueueTest, what_workers_want_while_the_store_is_busy_goes_together) {
    for (const auto* jid : {"a", "b", "c", "d"}) stage({.jid = jid});
    auto jobs = queue.take(4, 30s);
    ASSERT_EQ(jobs.size(), 4);
    const auto while_busy = [&](const std::function<bool(queue::TakenJob&)>& act) {
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

    EXPECT_EQ(while_busy([&](queue::TakenJob& job) { return queue.mark_called(job); }), 4);
    EXPECT_EQ(while_busy([&](queue::TakenJob& job) { return queue.finish(job); }), 4);
    EXPECT_EQ(while_busy([&](queue::TakenJob& job) { return queue.finish(job); }), 0);

    EXPECT_EQ(read_rows<std::int64_t>(*store, count_all_jobs).at(0), 0);
}

TEST_P(EmbeddedQueueTest, workers_that_mark_and_end_jobs_together_are_told_of_their_own) {
    constexpr std::size_t jobs = 160;
    for (std::size_t i = 0; i < jobs; ++i) stage({.jid = std::to_string(i)});
    auto taken = queue.take(static_cast<int>(jobs), 30s);
    ASSERT_EQ(taken.size(), jobs);
    clock.advance(30s);
    // Every fourth is another's by now, under the same id: its first worker may do nothing to it.
    ASSERT_EQ(queue.rescue(60s), static_cast<int>(jobs));
    const auto again = queue.take(static_cast<int>(jobs), 30s);
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
    const auto held = queue.take(1, 30s).at(0);

    EXPECT_EQ(write_one(*store, sql::rescue_predecessors_jobs, clock.now()), 1);

    EXPECT_FALSE(queue.finish(held));
    EXPECT_EQ(queue.take(10, 30s).size(), 2);
}

TEST_P(EmbeddedQueueTest, a_look_that_finds_nothing_due_costs_no_commit) {
    stage({.jid = "later", .due_in = 1h});
    const auto before = store->stats().commits;

    EXPECT_TRUE(queue.take(10, 30s).empty());

    EXPECT_EQ(store->stats().commits, before);
}

}  // namespace pawl::conformance
