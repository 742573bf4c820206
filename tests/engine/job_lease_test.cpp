#include "src/ops/job_in_tx.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// What a worker may still start with a claimed job when its lease is old. An external queue does
// not fence transactions: after a pause past the lease, another worker dead-lettered the job and
// then the first one did it, so that a job was both done and dead.

struct Parcel {
    static constexpr std::string_view kind = "parcel";
    std::string to;
};

class PackInTx {
public:
    explicit PackInTx(int& packed) : packed_{&packed} {}
    void work(Tx&, const Job<Parcel>&) { ++*packed_; }

private:
    int* packed_;
};

class PackAsOperation {
public:
    static constexpr std::string_view name = "pack_as_operation";
    using Started = pawl::Started<Parcel>;
    Finish pack(Tx&, const Started&) { return answer(200, std::string{"packed"}); }
    using Flow = Steps<Atomic<&PackAsOperation::pack>>;
};

class JobLeaseTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(
            "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) VALUES "
            "('0123456789abcdef01234567', 'default', 'parcel', '{\"to\":\"ann\"}', 'ready', "
            "'2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z')"
        );
    }
    // The process is paused over the claim, and its lease ends.
    ops::WorkReport work_after_a_pause(const std::function<void()>& meanwhile) {
        worker.add(form);
        core::on_fault_point([&](std::string_view point) {
            if (point != "queue.take.after") return;
            world.clock.advance(options.lease);
            meanwhile();
        });
        const auto report = worker.run_once(1);
        core::on_fault_point({});
        return report;
    }

    int packed = 0;
    World world;
    queue::EmbeddedQueue queue{world.store};
    ops::WorkerOptions options{};
    ops::Pauses pauses{world.store, world.clock, 0ms};
    ops::Worker worker{*world.engine, queue, pauses, options};
    detail::ErasedJob form{detail::erase_job(std::make_shared<PackInTx>(packed))};
};

TEST_F(JobLeaseTest, a_worker_that_was_paused_over_its_claim_renews_it_before_a_transaction) {
    const auto report = work_after_a_pause([] {});

    EXPECT_EQ(report.done, 1);
    EXPECT_EQ(packed, 1);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

TEST_F(JobLeaseTest, a_transaction_does_not_begin_for_a_job_that_was_rescued_meanwhile) {
    const auto report = work_after_a_pause([this] { EXPECT_EQ(queue.rescue(options.lease), 1); });

    EXPECT_EQ(report.lost, 1);
    EXPECT_EQ(packed, 0);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
}

TEST_F(JobLeaseTest, a_job_that_cannot_be_renewed_is_left_to_the_rescue) {
    const auto report =
        work_after_a_pause([this] { world.store.arm(1, FailingStore::How::refused); });

    EXPECT_EQ(report.lost, 1);
    EXPECT_EQ(packed, 0);
    EXPECT_EQ(queue.rescue(options.lease), 1);
    EXPECT_EQ(worker.run_once(1).done, 1);
}

// It may have waited for its turn in the store.
TEST_F(JobLeaseTest, a_transaction_begins_in_the_first_half_of_its_jobs_lease) {
    const auto jobs = queue.claim(1, options.lease);
    ASSERT_EQ(jobs.size(), 1U);
    const auto taken = world.clock.moment();
    const auto outcome = [&] {
        std::promise<ops::TxOutcome> ended;
        const ops::JobRun run{
            .job = jobs[0], .held_since = taken, .lease = options.lease, .deadline = 5s};
        world.engine->store()
            .write(ops::job_in_tx(*world.engine, queue, form, run, [&](ops::TxOutcome how) {
                ended.set_value(std::move(how));
            }));
        return ended.get_future().get();
    };

    world.clock.advance(options.lease / 2);
    EXPECT_TRUE(std::holds_alternative<ops::TxLost>(outcome()));
    EXPECT_EQ(packed, 0);

    world.clock.advance(-1ms);
    EXPECT_TRUE(std::holds_alternative<ops::TxDone>(outcome()));
    EXPECT_EQ(packed, 1);
}

// As for a job whose handler has a transaction.
TEST_F(JobLeaseTest, trouble_of_the_database_is_no_failure_of_a_job_that_is_an_operation) {
    using How = FailingStore::How;
    using Kind = StoreError::Kind;
    const auto& operation =
        world.engine->add(detail::erase_operation(std::make_shared<PackAsOperation>()));
    worker.add(detail::kind_of_job<Parcel>(), operation);
    for (const auto kind : {Kind::unavailable, Kind::contention, Kind::busy}) {
        world.store.arm(2, How::undone, kind);  // The first write claims it.

        EXPECT_EQ(worker.run_once(1).retried, 1);

        EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);
        world.clock.advance(1s);
    }
    EXPECT_EQ(worker.run_once(1).done, 1);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

}  // namespace
}  // namespace pawl::testing
