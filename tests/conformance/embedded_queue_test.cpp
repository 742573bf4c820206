#include "src/queue/embedded/embedded_queue.hpp"

#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"

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
