#include "src/queue/kafka/kafka_queue.hpp"

#include "src/queue/kafka/job_record.hpp"
#include "src/queue/kafka/kafka_dead_letters.hpp"
#include "src/queue/kafka/kafka_pusher.hpp"
#include "src/queue/kafka/producer.hpp"
#include "src/queue/kafka/redrive_marks.hpp"
#include "src/queue/kafka/topics.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"
#include "tests/kafka/cluster.hpp"

#include <gmock/gmock.h>

#include <set>

// The Kafka queue with each kind of store. The brokers are librdkafka's mock, or real ones
// (PAWL_TEST_KAFKA=host:port).
namespace pawl::conformance {

namespace {

constexpr Sql calls = on_all("count_job_calls", "SELECT count(*) FROM pawl_job_calls");

// Waits until staged jobs are readable: a group's member reads in its own time.
class ReadUp final : public queue::Queue {
public:
    template <class... A>
    explicit ReadUp(A&&... a) : queue_{std::forward<A>(a)...} {}

    using Queue::claim;
    std::vector<queue::ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const queue::ClaimFilter& filter
    ) override {
        read_up();
        return queue_.claim(limit, lease, filter);
    }
    std::optional<TimePoint> next_due() override {
        read_up();
        return queue_.next_due();
    }
    bool renew(const queue::ClaimedJob& job, std::chrono::milliseconds lease) override {
        return queue_.renew(job, lease);
    }
    queue::FinishResult finish_in_transaction(
        detail::Session& session, const queue::ClaimedJob& job
    ) override {
        return queue_.finish_in_transaction(session, job);
    }
    bool done_before(detail::Session& session, const queue::ClaimedJob& job) override {
        return queue_.done_before(session, job);
    }
    void finished(const queue::ClaimedJob& job) override { queue_.finished(job); }
    bool finish(const queue::ClaimedJob& job) override { return queue_.finish(job); }
    bool reschedule(
        const queue::ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) override {
        return queue_.reschedule(job, wait, error);
    }
    bool dead_letter(const queue::ClaimedJob& job, const std::string& error) override {
        return queue_.dead_letter(job, error);
    }
    bool mark_called(queue::ClaimedJob& job) override { return queue_.mark_called(job); }
    int rescue(std::chrono::milliseconds lease) override { return queue_.rescue(lease); }

private:
    void read_up() {
        if (!queue_.wait_read(20s)) throw std::runtime_error{"not read within 20 s"};
    }
    queue::KafkaQueue queue_;
};

class KafkaWorld final : public QueueWorld {
public:
    explicit KafkaWorld(Stores stores) : home_{stores, clock}, store_{home_.open_filled()} {}
    bool counts_deaths() const override { return false; }
    store::Store& store() override { return *store_; }
    std::unique_ptr<queue::Queue> open(const std::string& name) override {
        make_topics(name);
        return std::make_unique<ReadUp>(options_, name, *store_, clock);
    }
    std::unique_ptr<queue::DeadLetters> open_dead_letters() override {
        return std::make_unique<queue::KafkaDeadLetters>(options_, *store_, clock);
    }
    void stage(const Job& job) override {
        make_topics(job.queue);
        queue::StagedJob staged;
        staged.jid = job.jid;
        staged.queue = job.queue;
        staged.kind = job.kind;
        staged.args = job.args;
        staged.key_id = job.key_id;
        staged.created_at = clock.now();
        if (job.due_in == 0ms) {
            const auto report = pusher_.push(std::span{&staged, 1});
            EXPECT_EQ(report.sent.size(), 1);
            return;
        }
        // The enqueuer pushes due jobs; only a retry is due later.
        auto record = queue::kafka::pushed_record(
            staged, queue::kafka::main_topic(options_, job.queue), clock.now()
        );
        producer_.send(queue::kafka::retry_record(
            record,
            queue::kafka::job_of(record, job.queue),
            queue::kafka::retry_topic(options_, job.queue, options_.layers[0]),
            options_.group,
            clock.now() + job.due_in,
            std::nullopt,
            clock.now()
        ));
    }

private:
    void make_topics(const std::string& name) {
        if (made_.insert(name).second) cluster_.make_topics(options_, name, 4);
    }

    testing::KafkaCluster& cluster_ = testing::KafkaCluster::shared();
    queue::KafkaOptions options_ = cluster_.new_options();
    queue::KafkaPusher pusher_{options_, clock};
    queue::kafka::Producer producer_{options_};
    StoreHome home_;
    std::unique_ptr<store::Store> store_;
    std::set<std::string> made_;
};

QueueKind kind_on(Stores stores) {
    return {"kafka_" + name_of(stores), [stores] { return std::make_unique<KafkaWorld>(stores); }};
}

// The whole suite on one store. Stores differ only in statements, which the tests below run on
// each.
const std::vector<QueueKind> kafka_kinds{kind_on(Stores::sqlite_in_memory)};
PAWL_ON_QUEUES_WITH_LEASES(Kafka, kafka_kinds);

// What a Kafka queue keeps in the store.
class KafkaStoreTest : public OnEachStore {
protected:
    KafkaStoreTest() { cluster.make_topics(options, "default", 1); }
    void push(const std::string& jid) {
        queue::StagedJob job;
        job.jid = jid;
        job.queue = "default";
        job.kind = "send_receipt";
        job.args = "{}";
        EXPECT_EQ(queue::KafkaPusher(options, clock).push(std::span{&job, 1}).sent.size(), 1);
    }
    std::set<std::int64_t> settled(std::int64_t low) {
        return queue::kafka::settled(*store, partition, low).offsets;
    }
    bool mark(std::int64_t offset, queue::kafka::Mark with) {
        return write_now(*store, [&](Session& session) {
            return queue::kafka::mark(session, {partition, offset, "jid@"}, with, {"ann", "why"});
        });
    }

    testing::KafkaCluster& cluster = testing::KafkaCluster::shared();
    queue::KafkaOptions options = cluster.new_options(1);
    const queue::kafka::Partition partition{"pawl.mails__rides__dlq", 0};
};
PAWL_ON_EACH_STORE(KafkaStoreTest);

}  // namespace

TEST_P(KafkaStoreTest, a_job_done_in_a_transaction_is_known_without_a_commit_to_kafka) {
    push("called");
    push("done");
    const auto first_call = clock.now();
    {
        ReadUp queue{options, "default", *store, clock};
        auto jobs = queue.claim(2, 30s);
        ASSERT_EQ(jobs.size(), 2);
        for (auto& job : jobs) EXPECT_TRUE(queue.mark_called(job));
        write_now(*store, [&](Session& session) {
            EXPECT_EQ(queue.finish_in_transaction(session, jobs[1]), queue::FinishResult::done);
            return 0;
        });
    }
    clock.advance(1h);

    ReadUp heir{options, "default", *store, clock};
    const auto jobs = heir.claim(2, 30s);

    ASSERT_EQ(jobs.size(), 1);
    EXPECT_EQ(jobs[0].raw.jid, "called");
    EXPECT_EQ(jobs[0].called_at, first_call);
    EXPECT_EQ(heir.rescue(60s), 0);
    clock.advance(24h * 31);
    heir.rescue(60s);
    EXPECT_EQ(read_rows<std::int64_t>(*store, calls).at(0), 0) << "in a month it is forgotten";
}

TEST_P(KafkaStoreTest, a_record_is_settled_once_and_a_merging_one_is_not_settled) {
    using queue::kafka::Mark;

    EXPECT_TRUE(mark(1, Mark::merging));
    EXPECT_TRUE(mark(1, Mark::merging)) << "the process that began may have died";
    EXPECT_TRUE(mark(2, Mark::purged));
    EXPECT_THAT(settled(0), ::testing::ElementsAre(2));
    EXPECT_TRUE(mark(1, Mark::merged));

    EXPECT_FALSE(mark(1, Mark::merging));
    EXPECT_FALSE(mark(1, Mark::purged));
    EXPECT_FALSE(mark(2, Mark::merged));
    EXPECT_THAT(settled(0), ::testing::ElementsAre(1, 2));
    EXPECT_THAT(settled(2), ::testing::ElementsAre(2));
    write_now(*store, [&](Session& session) {
        queue::kafka::forget_marks(session, partition, 2);
        return 0;
    });
    EXPECT_THAT(settled(0), ::testing::ElementsAre(2));
}

}  // namespace pawl::conformance
