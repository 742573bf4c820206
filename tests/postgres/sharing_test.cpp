#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

// Phases of several requests in one transaction: they share its commit, but not their faults.
namespace pawl::postgres::sharing_test {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;
using Run = std::function<void(Session&)>;
using Texts = std::vector<std::string>;

constexpr char one_kind{};
constexpr char slow_kind{};
constexpr char throwing_kind{};

constexpr auto add_to_account =
    on_all<1>("add_to_account", "UPDATE accounts SET cents = cents + 1 WHERE id = $1");
constexpr Sql no_such_column = on_all("no_such_column", "INSERT INTO notes (nothing) VALUES (1)");
constexpr auto fence_note = on_all<1>("fence_note", "UPDATE notes SET number = 1 WHERE text = $1");

// What an engine throws to end its own work; no other work may get it.
struct Thrown {};

struct Given {
    Run run{};
    const void* kind{&one_kind};
    Isolation isolation{Isolation::read_committed};
};

class GivenWork final : public store::Work {
public:
    GivenWork(Given given, std::unique_ptr<store::Work> told)
        : given_{std::move(given)}, told_{std::move(told)} {}
    void run(Session& session) override { given_.run(session); }
    void done(std::exception_ptr failed) noexcept override { told_->done(std::move(failed)); }
    const void* kind() const override { return given_.kind; }
    Isolation isolation() const override { return given_.isolation; }

private:
    Given given_;
    std::unique_ptr<store::Work> told_;
};

class SharingTest : public ::testing::Test {
protected:
    SharingTest() {
        write_one(store, notes::create);
        testing::run_sql(
            database.url(),
            "CREATE TABLE accounts (id BIGINT PRIMARY KEY, cents BIGINT NOT NULL);"
            "INSERT INTO accounts SELECT i, 0 FROM generate_series(1, 10) AS i;"
            "CREATE TABLE child (note BIGINT REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)"
        );
    }

    PostgresOptions options(int sharing) const {
        return {.url = database.url(), .connections = 8, .sharing = sharing};
    }
    static std::unique_ptr<store::Work> work(const Ending& ending, Given given) {
        return std::make_unique<GivenWork>(std::move(given), ending.work({}));
    }
    // Submits the works while the only sharing connection is held, so that they share.
    std::vector<Ending> run_together(std::vector<Given> works) {
        std::promise<void> running;
        std::promise<void> go_on;
        Ending blocking;
        store.write(work(blocking, {.run = [&](Session&) {
                             running.set_value();
                             go_on.get_future().wait_for(20s);
                         }}));
        running.get_future().wait();
        std::vector<Ending> endings(works.size());
        for (std::size_t i = 0; i < works.size(); ++i)
            store.write(work(endings[i], std::move(works[i])));
        go_on.set_value();
        for (const auto& ending : endings) ending.wait();
        blocking.wait();
        return endings;
    }
    static Given insert(const std::string& text) {
        return {.run = [text](Session& session) { change(session, notes::insert, text); }};
    }
    // Its error comes with the next statement that is sent, or with the commit.
    static Given send(const std::string& text) {
        return {.run = [text](Session& session) {
            detail::send_statement(session, notes::insert, text);
        }};
    }
    std::vector<std::string> texts() {
        auto found = read_rows<std::string>(store, notes::texts);
        std::sort(found.begin(), found.end());
        return found;
    }

    testing::PostgresDatabase database;
    base::Clock& clock{base::system_clock()};
    PostgresStore store{options(1), clock, base::system_random()};
};

// With and without savepoints: whether works of the kind are known to throw.
class SharingEitherWay : public SharingTest, public ::testing::WithParamInterface<bool> {
protected:
    SharingEitherWay() {
        if (!GetParam()) return;
        const Given throws{.run = [](Session&) { throw Thrown{}; }};
        (void)run_together({throws, throws});
    }
};
INSTANTIATE_TEST_SUITE_P(Savepoints, SharingEitherWay, ::testing::Bool());

}  // namespace

TEST_F(SharingTest, works_that_wait_share_one_commit) {
    const auto before = store.stats();

    const auto endings = run_together(std::vector<Given>(32, {.run = [](Session& session) {
                                                             change(session, add_to_account, 1);
                                                         }}));

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    const auto after = store.stats();
    EXPECT_EQ(after.works - before.works, 33);
    EXPECT_EQ(after.commits - before.commits, 2);
    EXPECT_EQ(after.largest_batch, 32);
}

TEST_F(SharingTest, works_without_a_kind_and_serializable_ones_never_share) {
    Given kindless = insert("a");
    kindless.kind = nullptr;
    Given serializable = insert("b");
    serializable.isolation = Isolation::serializable;

    const auto endings = run_together({kindless, serializable, insert("c"), insert("d")});

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    EXPECT_EQ(store.stats().largest_batch, 2);
}

TEST_F(SharingTest, works_share_with_those_of_their_own_isolation) {
    std::vector<Given> works;
    std::map<std::string, int> seen;
    static constexpr Sql level = on_all("level", "SELECT current_setting('transaction_isolation')");
    for (const auto isolation : {Isolation::read_committed, Isolation::repeatable_read}) {
        for (int i = 0; i < 3; ++i)
            works.push_back(
                {.run =
                     [&seen, isolation](Session& session) {
                         const auto name = rows<std::string>(session, level).at(0);
                         ++seen[name];
                         EXPECT_EQ(
                             name == "repeatable read", isolation == Isolation::repeatable_read
                         );
                     },
                 .isolation = isolation}
            );
    }

    run_together(std::move(works));

    EXPECT_EQ(seen["read committed"], 3);
    EXPECT_EQ(seen["repeatable read"], 3);
    EXPECT_EQ(store.stats().largest_batch, 3);
}

// An error that a neighbour may have caused (a wrong name, a swallowed failure) breaks up the
// transaction, and all run again alone.
TEST_P(SharingEitherWay, a_work_that_throws_or_swallows_an_error_affects_no_neighbour) {
    const auto endings = run_together(
        {insert("a"),
         {.run =
              [](Session& session) {
                  detail::send_statement(session, notes::insert, std::string{"thrown away"});
                  throw Thrown{};
              }},
         {.run =
              [](Session& session) {
                  change(session, notes::insert, "thrown away");
                  throw Thrown{};
              }},
         {.run =
              [](Session& session) {
                  change(session, notes::insert, "in half");
                  (void)error_of([&] { change(session, no_such_column); });
              }},
         {.run = [](Session& session) { change(session, no_such_column); }},
         insert("b")}
    );

    EXPECT_FALSE(endings[0].error());
    EXPECT_THROW((void)endings[1].error(), Thrown);
    EXPECT_THROW((void)endings[2].error(), Thrown);
    EXPECT_EQ(endings[3].error()->kind(), Kind::refused);
    EXPECT_EQ(endings[4].error()->kind(), Kind::statement);
    EXPECT_FALSE(endings[5].error());
    EXPECT_EQ(texts(), (Texts{"a", "b"}));
}

// Savepoints cost time: works of a kind get one once one of them threw.
TEST_F(SharingTest, an_exception_breaks_up_a_transaction_only_the_first_time) {
    std::atomic<int> runs{0};
    const Given counts{.run = [&](Session& session) {
        ++runs;
        change(session, add_to_account, 1);
    }};
    const Given throws{.run = [](Session&) { throw Thrown{}; }, .kind = &throwing_kind};

    const auto first = run_together({counts, throws, counts});
    const auto runs_of_first = runs.exchange(0);
    const auto commits = store.stats().commits;
    const auto second = run_together({counts, throws, counts});

    for (const auto* endings : {&first, &second}) {
        EXPECT_FALSE((*endings)[0].error());
        EXPECT_THROW((void)(*endings)[1].error(), Thrown);
        EXPECT_FALSE((*endings)[2].error());
    }
    EXPECT_EQ(runs_of_first, 3);  // The work before it ran twice.
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(store.stats().commits - commits, 2);  // The commit of the holder, and theirs.
}

TEST_F(SharingTest, a_violated_constraint_in_a_savepoint_breaks_up_nothing) {
    (void)run_together({{.run = [](Session&) { throw Thrown{}; }}, insert("c")});
    const auto commits = store.stats().commits;

    const auto endings = run_together({insert("a"), insert("a"), insert("b")});

    EXPECT_FALSE(endings[0].error());
    EXPECT_EQ(endings[1].error()->kind(), Kind::constraint);
    EXPECT_EQ(texts(), (Texts{"a", "b", "c"}));
    EXPECT_EQ(store.stats().commits - commits, 2);
}

// A role, a tenant of row-level security, a temporary table: none may be visible to a neighbour.
TEST_P(SharingEitherWay, a_statement_that_changes_the_transaction_is_not_shared) {
    static constexpr Sql local = on_all("local", "SET LOCAL app.tenant = 'one'");
    static constexpr Sql configured =
        on_all("configured", "SELECT set_config('app.tenant', 'two', true)");
    static constexpr Sql table =
        on_all("table", "CREATE TEMPORARY TABLE mine (id BIGINT) ON COMMIT DROP");
    static constexpr Sql tenant =
        on_all("tenant", "SELECT coalesce(current_setting('app.tenant', true), '')");
    std::string seen;
    const auto run = [](const Sql& statement) {
        return Given{.run = [&statement](Session& session) { change(session, statement); }};
    };

    const auto endings = run_together(
        {run(local),
         run(configured),
         run(table),
         run(table),
         {.run = [&](Session& session) { seen = rows<std::string>(session, tenant).at(0); }}}
    );

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    EXPECT_EQ(seen, "");
}

// Issue 16, number 22. Alone it succeeds: its exception came from the shared transaction.
TEST_P(SharingEitherWay, a_work_that_hides_that_it_may_not_share_is_run_alone) {
    static constexpr Sql local = on_all("local", "SET LOCAL app.tenant = 'one'");
    const Given throws{.run = [](Session& session) {
        try {
            change(session, local);
        } catch (const StoreError&) {
            throw Thrown{};
        }
    }};

    const auto endings = run_together({insert("a"), throws, insert("b")});

    for (const auto& ending : endings) EXPECT_NO_THROW(EXPECT_FALSE(ending.error()));
    EXPECT_EQ(texts(), (Texts{"a", "b"}));
}

TEST_F(SharingTest, a_work_behind_a_lock_leaves_the_sharing_connection) {
    Ending holds;
    std::promise<void> locked;
    std::promise<void> go_on;
    store.write(holds.work([&](Session& session) {
        change(session, add_to_account, 1);
        locked.set_value();
        go_on.get_future().wait_for(20s);
    }));
    locked.get_future().wait();
    Ending waits;
    Ending goes;

    store.write(work(waits, {.run = [](Session& session) { change(session, add_to_account, 1); }}));
    store.write(work(goes, insert("a")));

    EXPECT_FALSE(goes.error());
    EXPECT_FALSE(waits.has_ended());
    go_on.set_value();
    EXPECT_FALSE(waits.error());
}

TEST_P(SharingEitherWay, a_late_error_reaches_the_work_that_caused_it) {
    const Given fence{.run = [](Session& session) {
        detail::fence_statement(session, fence_note, std::string{"is not there"});
    }};

    const auto endings =
        run_together({send("a"), send("a"), insert("b"), fence, send("c"), send("d"), send("d")});

    int of_twins = 0;
    for (std::size_t i = 0; i < endings.size(); ++i) {
        const auto error = endings[i].error();
        if (i == 2 || i == 4) {
            EXPECT_FALSE(error) << i;
        } else if (i == 3) {
            EXPECT_EQ(error->kind(), Kind::fenced);
        } else if (error) {
            EXPECT_EQ(error->kind(), Kind::constraint) << i;
            ++of_twins;
        }
    }
    // Once they run alone, either of two that want the same may be first.
    EXPECT_EQ(of_twins, 2);
    EXPECT_EQ(texts(), (Texts{"a", "b", "c", "d"}));
}

// A lost claim may be lost at each repeat: no reason to stop sharing.
TEST_F(SharingTest, a_late_error_breaks_up_a_transaction_only_once) {
    const Given fence{
        .run = [](Session& session
               ) { detail::fence_statement(session, fence_note, std::string{"is not there"}); },
        .kind = &throwing_kind};
    (void)run_together({insert("a"), fence, insert("b")});
    (void)run_together({insert("c"), fence});
    const auto commits = store.stats().commits;

    const auto endings = run_together({insert("d"), fence, insert("e"), fence});

    for (const std::size_t i : {1U, 3U}) EXPECT_EQ(endings[i].error()->kind(), Kind::fenced);
    EXPECT_EQ(texts(), (Texts{"a", "b", "c", "d", "e"}));
    EXPECT_EQ(store.stats().commits - commits, 2);  // The commit of the holder, and theirs.
}

TEST_P(SharingEitherWay, the_error_of_a_neighbour_cannot_be_swallowed) {
    int attempts = 0;
    const Given swallows{.run = [&](Session& session) {
        ++attempts;
        session.savepoint();
        try {
            change(session, notes::insert, "tried");
            session.release();
        } catch (const StoreError&) {
            session.roll_back_to();
        }
    }};

    const auto endings = run_together({insert("a"), send("a"), swallows});

    const bool saved = GetParam();       // Then the neighbour gets its own error,
    EXPECT_EQ(attempts, saved ? 1 : 2);  // else it runs with the neighbour, and alone.
    EXPECT_FALSE(endings[2].error());
    EXPECT_EQ(texts(), (Texts{"a", "tried"}));
}

TEST_P(SharingEitherWay, a_violated_deferred_key_fails_alone) {
    static constexpr Sql orphan = on_all("orphan", "INSERT INTO child VALUES (77)");

    const auto endings = run_together(
        {insert("before"),
         {.run = [](Session& session) { change(session, orphan); }},
         insert("after")}
    );

    EXPECT_FALSE(endings[0].error());
    EXPECT_EQ(endings[1].error()->kind(), Kind::constraint);
    EXPECT_FALSE(endings[2].error());
    EXPECT_EQ(texts(), (Texts{"after", "before"}));
}

TEST_F(SharingTest, the_others_go_on_while_one_waits_for_a_lock) {
    Ending holds;
    std::promise<void> locked;
    std::promise<void> go_on;
    store.write(holds.work([&](Session& session) {
        change(session, add_to_account, 1);
        locked.set_value();
        go_on.get_future().wait_for(20s);
    }));
    locked.get_future().wait();

    std::thread ends_later{[&] {
        std::this_thread::sleep_for(300ms);
        EXPECT_EQ(texts(), (Texts{"after", "before"}));
        go_on.set_value();
    }};
    const auto endings = run_together(
        {insert("before"),
         {.run = [](Session& session) { change(session, add_to_account, 1); }},
         insert("after")}
    );
    ends_later.join();

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    EXPECT_FALSE(holds.error());
}

// Two shared transactions want the same rows in another order: a deadlock that no single work could
// cause.
TEST_P(SharingEitherWay, rows_written_by_all_lose_no_update) {
    constexpr int works = 2'000;
    PostgresStore crowded{options(2), clock, base::system_random()};
    std::vector<Ending> endings(works);

    for (int i = 0; i < works; ++i)
        crowded.write(work(endings[static_cast<std::size_t>(i)], {.run = [i](Session& session) {
                               change(session, add_to_account, i * 7 % 10 + 1);
                           }}));

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    constexpr Sql cents = on_all("cents", "SELECT sum(cents)::bigint FROM accounts");
    EXPECT_EQ(read_rows<std::int64_t>(store, cents).at(0), works);
}

TEST_F(SharingTest, a_phase_that_was_slow_does_not_share_again) {
    const Given slow{
        .run = [](Session&) { std::this_thread::sleep_for(150ms); }, .kind = &slow_kind};

    run_together({slow, insert("a"), insert("b")});
    EXPECT_EQ(store.stats().largest_batch, 3);
    std::vector<Given> works(8, slow);
    const auto began = clock.steady();
    run_together(std::move(works));

    EXPECT_EQ(store.stats().largest_batch, 3);
    EXPECT_LT(clock.steady() - began, 8 * 150ms);  // Concurrently.
}

TEST_F(SharingTest, a_lost_connection_loses_no_work) {
    static constexpr Sql end_once =
        on_all("end_once", "SELECT pg_terminate_backend(pg_backend_pid())");
    bool ended = false;
    const Given once{.run = [&](Session& session) {
        if (!std::exchange(ended, true)) change(session, end_once);
    }};

    const auto endings = run_together({insert("before"), once, insert("after")});

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    EXPECT_EQ(texts(), (Texts{"after", "before"}));
}

TEST_F(SharingTest, when_off_each_work_has_its_own_transaction) {
    PostgresStore alone{options(0), clock, base::system_random()};
    std::vector<Ending> endings(50);

    for (auto& ending : endings)
        alone.write(work(ending, {.run = [](Session& session) {
                             change(session, add_to_account, 1);
                         }}));

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    EXPECT_EQ(alone.stats().commits, 50);
    EXPECT_EQ(alone.stats().largest_batch, 1);
}

}  // namespace pawl::postgres::sharing_test
