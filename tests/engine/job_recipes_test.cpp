#include "tests/engine/world.hpp"

// The recipes of docs/howto/queues.md: what other libraries have a setting for.
namespace pawl::testing {
namespace {

struct ExportPart {
    static constexpr std::string_view kind = "export_part";
    std::int64_t batch{};
};
struct ExportDone {
    static constexpr std::string_view kind = "export_done";
    std::int64_t batch{};
};

class WriteParts {
public:
    explicit WriteParts(int failures) : failures_{failures} {}
    void work(Tx& tx, const Job<ExportPart>& job) {
        static constexpr Statement<1> part_done{
            "part_done",
            "UPDATE batches SET open = open - 1 WHERE id = $1 RETURNING open",
            "UPDATE batches SET open = open - 1 WHERE id = $1 RETURNING open"};
        if (query_one<std::int64_t>(tx, part_done, job.args.batch) == 0)
            tx.stage(ExportDone{job.args.batch});
        if (failures_-- > 0) throw std::runtime_error{"the disk is full"};
    }

private:
    int failures_;
};

class TellOfExport {
public:
    explicit TellOfExport(int& told) : told_{told} {}
    void work(Tx&, const Job<ExportDone>& job) { told_ += static_cast<int>(job.args.batch); }

private:
    int& told_;
};

struct AskBank {
    static constexpr std::string_view kind = "ask_bank";
    std::int64_t payment{};
};

class AskUntilTwoDaysOld {
public:
    JobResult work(Tx& tx, const Job<AskBank>& job) {
        if (tx.now() > job.created_at + 48h) return discard("not booked within 48 h");
        return retry_in(12h);
    }
};

class JobRecipes : public ::testing::Test {
protected:
    template <class Args>
    void stage(const Args& args) {
        store::write_now(world.store, [&](store::Session& session) {
            detail::TxFactory::with_tx({session, base::system_random()}, [&](Tx& tx) {
                return tx.stage(args);
            });
        });
    }
    template <class H>
    void handle(H handler) {
        worker.add(detail::erase_job(std::make_shared<H>(std::move(handler))));
    }

    World world;
    queue::EmbeddedQueue queue{world.store};
    ops::Pauses pauses{world.store, world.clock, 0ms};
    ops::WorkerOptions options{.retry_layers = {10s}};
    ops::Worker worker{*world.engine, queue, pauses, options};
};

TEST_F(JobRecipes, the_last_job_of_a_batch_stages_the_next_one_once) {
    world.execute("CREATE TABLE batches (id INTEGER PRIMARY KEY, open INTEGER NOT NULL) STRICT");
    world.execute("INSERT INTO batches VALUES (7, 4)");
    int told = 0;
    handle(WriteParts{2});
    handle(TellOfExport{told});
    for (int i = 0; i < 4; ++i) stage(ExportPart{7});

    EXPECT_EQ(worker.run_once(10).retried, 2);
    EXPECT_EQ(world.number("SELECT open FROM batches"), 2);
    world.clock.advance(11s);
    EXPECT_EQ(worker.run_once(10).done, 2);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
    EXPECT_EQ(worker.run_once(10).done, 1);

    EXPECT_EQ(told, 7);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

TEST_F(JobRecipes, a_job_that_asks_again_and_again_dies_at_the_age_that_it_sets) {
    handle(AskUntilTwoDaysOld{});
    stage(AskBank{1});

    for (int tries = 0; tries < 5; ++tries) {
        EXPECT_EQ(worker.run_once(1).retried, 1) << tries;
        world.clock.advance(12h);
    }
    EXPECT_EQ(worker.run_once(1).dead_lettered, 1);

    EXPECT_EQ(world.text("SELECT last_error FROM pawl_dead_jobs"), "not booked within 48 h");
}

}  // namespace
}  // namespace pawl::testing
