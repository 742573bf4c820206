#include "src/base/time_text.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

struct Crate {
    static constexpr std::string_view kind = "crate";
    std::string to;
};

class LoadAtSecondTry {
public:
    void work(Tx&, const Job<Crate>& job) {
        if (job.attempt == 1) throw std::runtime_error{"no box"};
    }
};

class LoadLater {
public:
    JobResult work(Tx&, const Job<Crate>&) {
        return ++tries_ == 1 ? JobResult{retry_in(-1h)} : JobResult{done};
    }

private:
    int tries_{0};
};

class JobRetryTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(
            "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) VALUES "
            "('0123456789abcdef01234567', 'default', 'crate', '{\"to\":\"ann\"}', 'ready', "
            "'2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z')"
        );
    }
    World world;
    queue::EmbeddedQueue queue{world.store};
    ops::Pauses pauses{world.store, world.clock, 0ms};
    ops::WorkerOptions options{.retry_layers = {10s}};
};

// It waited by the clock of its server: on one that ran ahead by days, for days (the case "clock:
// at +0 x100 after a death in the call").
TEST_F(JobRetryTest, a_failed_job_waits_by_the_clock_of_the_database) {
    HandClock ahead;
    ahead.advance(72h);
    const auto engine = world.another_engine(ahead);
    ops::Worker worker{*engine, queue, pauses, options};
    worker.add(detail::erase_job(std::make_shared<LoadAtSecondTry>()));

    EXPECT_EQ(worker.run_once(1).retried, 1);
    EXPECT_EQ(worker.run_once(1).done, 0);
    world.clock.advance(11s);  // The wait, and at most a tenth of it.
    EXPECT_EQ(worker.run_once(1).done, 1);
}

// During a deploy a worker of the other release may know them: a server of the older one made dead
// letters of jobs that the newer one had staged.
TEST_F(JobRetryTest, a_job_of_unknown_kind_or_shape_is_retried_before_it_is_a_dead_letter) {
    ops::Worker worker{*world.engine, queue, pauses, options};
    worker.add(detail::erase_job(std::make_shared<LoadLater>()));
    for (const auto* damage : {"kind = 'other'", R"(kind = 'crate', args = '{"other":1}')"}) {
        world.execute(std::string{"UPDATE pawl_jobs SET failures = 0, "} + damage);
        EXPECT_EQ(worker.run_once(1).retried, 1) << damage;
        world.clock.advance(24h);
    }

    EXPECT_EQ(worker.run_once(1).dead_lettered, 1);
}

TEST_F(JobRetryTest, what_is_no_job_is_a_dead_letter_at_once) {
    world.execute("UPDATE pawl_jobs SET args = 'no JSON'");
    ops::Worker worker{*world.engine, queue, pauses, options};
    worker.add(detail::erase_job(std::make_shared<LoadLater>()));

    EXPECT_EQ(worker.run_once(1).dead_lettered, 1);
}

// Its due time would lie before the times that a poll looks at.
TEST_F(JobRetryTest, a_wait_that_is_over_already_is_none) {
    ops::Worker worker{*world.engine, queue, pauses, options};
    worker.add(detail::erase_job(std::make_shared<LoadLater>()));

    EXPECT_EQ(worker.run_once(1).retried, 1);
    EXPECT_EQ(world.text("SELECT run_at FROM pawl_jobs"), base::time_text(world.clock.now()));
    EXPECT_EQ(worker.run_once(1).done, 1);
}

}  // namespace
}  // namespace pawl::testing
