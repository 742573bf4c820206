#include "tests/simulation/outside_queue.hpp"

#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"

#include <memory>
#include <string>
#include <vector>

// The simulator's queue must behave like every queue, or the simulator's results mean nothing.
namespace pawl::conformance {
namespace {

// The broker's dead jobs, read-only.
class Dead final : public queue::DeadLetters {
public:
    explicit Dead(simulation::Broker& broker) : broker_{broker} {}
    std::vector<queue::DeadLetter> page(const queue::DeadLetterFilter&, const std::string&, int)
        override {
        std::vector<queue::DeadLetter> letters;
        for (const auto& [id, job] : broker_.jobs) {
            if (job.state != simulation::Broker::Job::State::dead) continue;
            auto& letter = letters.emplace_back();
            letter.jid = job.job.jid;
            letter.kind = job.job.kind;
            letter.args = job.job.args;
            letter.failures = job.job.failures;
            letter.error = job.job.last_error.value_or("");
            letter.called_at = job.job.called_at;
            letter.key_id = job.job.key_id;
            letter.created_at = job.job.created_at;
            letter.first_failed_at = job.job.first_failed_at;
            letter.died_at = *job.job.last_failed_at;
        }
        return letters;
    }
    std::vector<queue::DeadLetterGroup> groups(const queue::DeadLetterFilter&) override {
        return {};
    }
    std::optional<queue::DeadLetter> find(const std::string&) override { return {}; }
    queue::PurgeResult purge(std::span<const std::string>, const queue::AuditEntry&) override {
        return {};
    }
    queue::PurgeResult
    merge(std::span<const std::string>, const queue::AuditEntry&, std::optional<TimePoint>)
        override {
        return {};
    }

private:
    simulation::Broker& broker_;
};

class OutsideWorld final : public QueueWorld {
public:
    OutsideWorld() { store_ = home_.open_filled(); }
    store::Store& store() override { return *store_; }
    std::unique_ptr<queue::Queue> open(const std::string& name) override {
        return std::make_unique<simulation::OutsideQueue>(
            broker_, clock, name, simulation::OutsideQueue::Way{}
        );
    }
    std::unique_ptr<queue::DeadLetters> open_dead_letters() override {
        return std::make_unique<Dead>(broker_);
    }
    void stage(const Job& job) override {
        queue::StagedJob staged;
        staged.id = ++staged_;
        staged.jid = job.jid;
        staged.queue = job.queue;
        staged.kind = job.kind;
        staged.args = job.args;
        staged.key_id = job.key_id;
        staged.created_at = clock.now();
        simulation::OutsideQueue queue{broker_, clock, job.queue, {}};
        queue.push(std::vector{staged});
        broker_.jobs.rbegin()->second.run_at = clock.now() + job.due_in;
    }

private:
    StoreHome home_{Stores::memory, clock};
    std::unique_ptr<store::Store> store_;
    simulation::Broker broker_;
    std::int64_t staged_{0};
};

const std::vector<QueueKind> outside{{"outside", [] { return std::make_unique<OutsideWorld>(); }}};
INSTANTIATE_TEST_SUITE_P(Simulated, QueueTest, ::testing::ValuesIn(outside), [](const auto& of) {
    return of.param.name;
});
INSTANTIATE_TEST_SUITE_P(
    Simulated,
    QueueLeaseTest,
    ::testing::ValuesIn(outside),
    [](const auto& of) { return of.param.name; }
);

TEST(OutsideQueue, accepts_a_job_once_until_it_is_told_to_forget_it) {
    HandClock clock;
    simulation::Broker broker;
    simulation::OutsideQueue queue{broker, clock, "default", {}};
    std::vector<queue::StagedJob> jobs(1);
    jobs[0].jid = "jid";
    jobs[0].queue = "default";

    queue.push(jobs);
    queue.push(jobs);
    EXPECT_EQ(broker.jobs.size(), 1U);
    queue.forget(std::vector<std::string>{"jid"});
    queue.push(jobs);
    EXPECT_EQ(broker.jobs.size(), 2U);
}

}  // namespace
}  // namespace pawl::conformance
