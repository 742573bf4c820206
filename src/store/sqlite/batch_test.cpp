#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>

// Group commit: works of many requests share one transaction, but not their faults.
namespace pawl::sqlite {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

constexpr Sql endless_write{
    "endless_write",
    "INSERT INTO notes (number) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT max(i) FROM n",
    {}};

void write_note(Session& session) {
    static constexpr Sql note{"note", "INSERT INTO notes (number) VALUES (1)", {}};
    change(session, note);
}

// What an engine throws to end its own work; no other work may get it.
struct LostLease {};

class BatchTest : public ::testing::Test {
protected:
    BatchTest() { write_one(store, notes::create); }

    // Submits the works while the writer is held, so that they are in one batch. The works of a
    // kind run without savepoints.
    std::vector<Ending> run_together(
        std::vector<std::function<void(Session&)>> works, const void* kind = nullptr
    ) {
        std::promise<void> running;
        std::promise<void> go_on;
        Ending blocking;
        store.write(blocking.work([&](Session&) {
            running.set_value();
            go_on.get_future().wait_for(20s);
        }));
        running.get_future().wait();
        std::vector<Ending> endings(works.size());
        for (std::size_t i = 0; i < works.size(); ++i)
            store.write(endings[i].work(std::move(works[i]), 5s, kind));
        go_on.set_value();
        for (const auto& ending : endings) ending.wait();
        return endings;
    }
    static std::function<void(Session&)> insert(const std::string& text) {
        return [text](Session& session) { change(session, notes::insert, text); };
    }
    std::vector<std::string> texts() { return read_rows<std::string>(store, notes::texts); }

    Folder folder;
    HandClock clock;
    SqliteStore store{{.path = folder.file("test.db")}, clock};
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_F(BatchTest, works_that_wait_share_one_commit) {
    const auto before = store.stats();

    run_together(std::vector<std::function<void(Session&)>>(100, [](Session& session) {
        write_note(session);
    }));

    const auto after = store.stats();
    EXPECT_EQ(after.works - before.works, 101);
    EXPECT_EQ(after.commits - before.commits, 2);
    EXPECT_EQ(after.largest_batch, 100);
}

TEST_F(BatchTest, no_batch_exceeds_the_option) {
    SqliteStore small{{.path = folder.file("small.db"), .batch_max = 3}, clock};
    write_one(small, notes::create);
    std::vector<Ending> endings(20);

    for (auto& ending : endings)
        small.write(ending.work([](Session& session) { write_note(session); }));
    for (const auto& ending : endings) EXPECT_FALSE(ending.error());

    EXPECT_LE(small.stats().largest_batch, 3);
}

// Works of a kind, which run without savepoints, and others.
class FaultyBatchTest : public BatchTest, public ::testing::WithParamInterface<bool> {
protected:
    std::vector<Ending> run_faulty(std::vector<std::function<void(Session&)>> works) {
        return run_together(std::move(works), GetParam() ? this : nullptr);
    }
};
INSTANTIATE_TEST_SUITE_P(EachKind, FaultyBatchTest, ::testing::Bool());

TEST_P(FaultyBatchTest, a_work_that_throws_or_swallows_an_error_affects_no_neighbour) {
    const auto endings = run_faulty(
        {insert("a"),
         [](Session& session) {
             change(session, notes::insert, "thrown away");
             throw LostLease{};
         },
         insert("a"),  // A constraint.
         [](Session& session) {
             change(session, notes::insert, "in half");
             (void)error_of([&] { change(session, notes::insert, "a"); });
         },
         insert("b")}
    );

    EXPECT_FALSE(endings[0].error());
    EXPECT_THROW((void)endings[1].error(), LostLease);
    EXPECT_EQ(endings[2].error()->kind(), Kind::constraint);
    EXPECT_EQ(endings[3].error()->kind(), Kind::refused);
    EXPECT_FALSE(endings[4].error());
    EXPECT_EQ(texts(), (Texts{"a", "b"}));
}

// SQLite rolls back the whole transaction when it interrupts a write.
TEST_P(FaultyBatchTest, after_an_interrupted_write_the_others_run_again) {
    const auto endings = run_faulty(
        {insert("before"),
         [this](Session& session) {
             clock.tick(1s);
             change(session, endless_write);
         },
         insert("after")}
    );
    clock.tick(0s);

    EXPECT_FALSE(endings[0].error());
    EXPECT_EQ(endings[1].error()->kind(), Kind::deadline);
    EXPECT_FALSE(endings[2].error());
    EXPECT_EQ(texts(), (Texts{"before", "after"}));
}

TEST_P(FaultyBatchTest, two_interrupted_writes_fail_alone) {
    const auto interrupted = [this](Session& session) {
        clock.tick(1s);
        (void)error_of([&] { change(session, endless_write); });
        clock.tick(0s);
    };

    const auto endings = run_faulty({insert("a"), interrupted, insert("b"), interrupted});

    EXPECT_FALSE(endings[0].error());
    EXPECT_EQ(endings[1].error()->kind(), Kind::deadline);
    EXPECT_FALSE(endings[2].error());
    EXPECT_EQ(endings[3].error()->kind(), Kind::deadline);
    EXPECT_EQ(texts(), (Texts{"a", "b"}));
}

// The row that it met was never committed.
TEST_P(FaultyBatchTest, a_work_that_met_a_row_of_one_that_failed_later_succeeds) {
    bool first_run = true;
    const auto endings = run_faulty(
        {insert("before"),
         [&](Session& session) {
             change(session, notes::insert, "the same");
             if (!std::exchange(first_run, false)) throw LostLease{};
         },
         insert("the same")}
    );

    if (GetParam()) {
        EXPECT_THROW((void)endings[1].error(), LostLease);
        EXPECT_FALSE(endings[2].error());
    } else {  // In savepoints nothing is rolled back that another one met.
        EXPECT_FALSE(endings[1].error());
        EXPECT_EQ(endings[2].error()->kind(), Kind::constraint);
    }
}

TEST_P(FaultyBatchTest, an_exception_after_the_end_of_the_transaction_reaches_no_neighbour) {
    const auto endings = run_faulty({insert("before"), [this](Session& session) {
                                         clock.tick(1s);
                                         (void)error_of([&] { change(session, endless_write); });
                                         throw LostLease{};
                                     }});
    clock.tick(0s);

    EXPECT_FALSE(endings[0].error());
    // Its own error of the database, which it can't hide (issue 16, number 22).
    EXPECT_EQ(endings[1].error()->kind(), Kind::deadline);
}

TEST_P(FaultyBatchTest, a_work_that_hides_the_end_of_the_transaction_fails_alone) {
    const auto endings = run_faulty({insert("before"), [this](Session& session) {
                                         clock.tick(1s);
                                         (void)error_of([&] { change(session, endless_write); });
                                         clock.tick(0s);
                                     }});

    EXPECT_FALSE(endings[0].error());
    EXPECT_TRUE(endings[1].error());
    EXPECT_EQ(texts(), Texts{"before"});
    write_one(store, notes::insert, "the next is well");
}

TEST_F(BatchTest, works_of_a_kind_that_threw_have_savepoints_for_a_minute) {
    int runs = 0;
    const auto runs_beside_one_that_throws = [&] {
        runs = 0;
        run_together({[&](Session&) { ++runs; }, [](Session&) { throw LostLease{}; }}, &runs);
        return runs;
    };

    EXPECT_EQ(runs_beside_one_that_throws(), 2);
    EXPECT_EQ(runs_beside_one_that_throws(), 1);
    clock.advance(61s);
    EXPECT_EQ(runs_beside_one_that_throws(), 2);
}

TEST_P(FaultyBatchTest, a_violated_deferred_key_fails_alone) {
    static constexpr Sql child{
        "child",
        "CREATE TABLE child (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)",
        {}};
    static constexpr Sql orphan{"orphan", "INSERT INTO child VALUES (77)", {}};
    write_one(store, child);

    const auto endings = run_faulty(
        {insert("before"), [](Session& session) { change(session, orphan); }, insert("after")}
    );

    EXPECT_FALSE(endings[0].error());
    EXPECT_EQ(endings[1].error()->kind(), Kind::constraint);
    EXPECT_FALSE(endings[2].error());
}

TEST_P(FaultyBatchTest, a_savepoint_left_open_ends_with_its_work) {
    const auto endings = run_faulty(
        {[](Session& session) {
             session.savepoint();
             change(session, notes::insert, "kept");
         },
         [](Session& session) {
             session.savepoint();
             change(session, notes::insert, "thrown away");
             throw LostLease{};
         },
         insert("after")}
    );

    EXPECT_FALSE(endings[0].error());
    EXPECT_EQ(texts(), (Texts{"kept", "after"}));
}

TEST_F(BatchTest, options_that_could_not_work_are_refused) {
    const std::vector<SqliteOptions> wrong{
        {.path = ""},
        {.path = folder.file("x.db"), .waiting_max = 0},
        {.path = folder.file("x.db"), .batch_max = 0},
        {.path = folder.file("x.db"), .readers = 0},
        {.path = folder.file("x.db"), .readers = 65}};

    for (const auto& options : wrong)
        EXPECT_THROW((SqliteStore{options, clock}), std::invalid_argument);
}

}  // namespace pawl::sqlite
