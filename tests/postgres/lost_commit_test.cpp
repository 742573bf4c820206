#include <pawl/database.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/postgres/transaction.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"
#include "tests/postgres/cutting_proxy.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

// Issue 16, number 22: writes without a fence, whose COMMIT gets no answer. None may run twice, and
// each is reported in doubt exactly if its effect is unknown.
namespace pawl::postgres::lost_commit_test {

namespace {

using namespace conformance;
using testing::CuttingProxy;
using At = CuttingProxy::At;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;
using Phase = std::function<void(Session&)>;

constexpr char one_kind{};
constexpr auto add_one =
    on_all<1>("add_one", "UPDATE counters SET count = count + 1 WHERE id = $1");
constexpr Sql counts = on_all("counts", "SELECT count FROM counters ORDER BY id");
constexpr auto fail_later = on_all<1>("fail_later", "INSERT INTO fails_at_commit VALUES ($1)");
// Fails with the given code at COMMIT; with `once`, only for the first transaction that commits.
constexpr const char* tables = R"(
CREATE TABLE counters (id BIGINT PRIMARY KEY, count BIGINT NOT NULL);
INSERT INTO counters SELECT i, 0 FROM generate_series(1, 200) AS i;
CREATE SEQUENCE commits_tried;
CREATE TABLE fails_at_commit (code TEXT);
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.code LIKE 'once %' AND nextval('commits_tried') > 1 THEN RETURN NULL; END IF;
    RAISE EXCEPTION 'as the test says' USING ERRCODE = right(NEW.code, 5);
END $$;
CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON fails_at_commit DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fail();
)";

class OfOneKind final : public store::Work {
public:
    explicit OfOneKind(std::unique_ptr<store::Work> inner) : inner_{std::move(inner)} {}
    void run(Session& session) override { inner_->run(session); }
    void done(std::exception_ptr failed) noexcept override { inner_->done(std::move(failed)); }
    const void* kind() const override { return &one_kind; }

private:
    std::unique_ptr<store::Work> inner_;
};

class LostCommitTest : public ::testing::Test {
protected:
    LostCommitTest() { testing::run_sql(database.url(), tables); }

    PostgresOptions options(int sharing) const {
        return {.url = proxy.url(), .connections = 4, .sharing = sharing};
    }
    std::vector<std::int64_t> all_counts() {
        PostgresStore direct{
            {.url = database.url(), .connections = 1}, clock, base::system_random()};
        return read_rows<std::int64_t>(direct, counts);
    }
    std::int64_t count(std::size_t id) { return all_counts().at(id - 1); }

    testing::PostgresDatabase database;
    CuttingProxy proxy{database.url()};
    base::Clock& clock{base::system_clock()};
};

// Whether it shares its transaction with others of its kind.
class LostCommitEitherWay : public LostCommitTest, public ::testing::WithParamInterface<bool> {
protected:
    // Runs the works in one transaction, or each in its own.
    std::vector<Ending> run_all(const std::vector<Phase>& runs) {
        std::promise<void> running;
        std::promise<void> go_on;
        blocking = {};
        if (GetParam()) {  // They gather behind it.
            store.write(std::make_unique<OfOneKind>(blocking.work([&](Session&) {
                running.set_value();
                go_on.get_future().wait_for(20s);
            })));
            running.get_future().wait();
        }
        std::vector<Ending> endings(runs.size());
        for (std::size_t i = 0; i < runs.size(); ++i)
            store.write(std::make_unique<OfOneKind>(endings[i].work(runs[i])));
        if (GetParam()) {
            go_on.set_value();
            blocking.wait();
        }
        for (const auto& ending : endings) ending.wait();
        return endings;
    }
    std::vector<Ending> run_counting(std::size_t works) {
        std::vector<Phase> runs;
        for (std::size_t i = 0; i < works; ++i)
            runs.emplace_back([this, i](Session& session) {
                ++ran;
                change(session, add_one, static_cast<std::int64_t>(i + 1));
            });
        return run_all(runs);
    }
    // The error of a work whose COMMIT fails with this code.
    std::optional<StoreError> error_at_commit(const std::string& code) {
        return run_all({[this, code](Session& session) {
                   ++ran;
                   change(session, add_one, std::int64_t{1});
                   change(session, fail_later, code);
               }})
            .at(0)
            .error();
    }

    // Only after the holder has committed, whose COMMIT must not be cut.
    void cut(int commits, At at) {
        if (GetParam()) blocking.wait();
        proxy.cut(commits, at);
    }

    Ending blocking;
    std::atomic<int> ran{0};
    PostgresStore store{options(GetParam() ? 1 : 0), clock, base::system_random()};
};
INSTANTIATE_TEST_SUITE_P(Sharing, LostCommitEitherWay, ::testing::Bool(), [](const auto& of) {
    return of.param ? "shared" : "alone";
});

}  // namespace

TEST_P(LostCommitEitherWay, a_write_that_was_committed_without_an_answer_is_not_run_again) {
    constexpr std::size_t works = 5;
    (void)run_counting(1);  // Connects, and prepares the statements.
    const auto before = all_counts();
    ran = 0;
    // The holder commits first.
    std::vector<Phase> runs;
    for (std::size_t i = 1; i <= works; ++i)
        runs.emplace_back([this, i](Session& session) {
            if (++ran == 1) cut(GetParam() ? 1 : works, At::behind_commit);
            change(session, add_one, static_cast<std::int64_t>(i));
        });

    const auto endings = run_all(runs);

    EXPECT_GE(proxy.cuts(), 1);
    EXPECT_EQ(ran, works);
    int in_doubt = 0;
    const auto after = all_counts();
    for (std::size_t i = 0; i < works; ++i) {
        const auto error = endings[i].error();
        EXPECT_EQ(after[i] - before[i], 1) << i;
        if (!error) continue;
        ++in_doubt;
        EXPECT_EQ(error->effect(), Effect::in_doubt);
        EXPECT_EQ(error->kind(), Kind::unavailable);
        EXPECT_FALSE(error->safe_to_repeat());
    }
    EXPECT_EQ(in_doubt, GetParam() ? works : proxy.cuts());
}

TEST_P(LostCommitEitherWay, a_write_whose_commit_was_lost_on_its_way_is_in_doubt_too) {
    const auto endings = run_all(std::vector<Phase>(3, [this](Session& session) {
        if (++ran == 1) cut(100, At::before_commit);
        change(session, add_one, std::int64_t{1});
    }));
    proxy.cut(0, At::before_commit);

    for (const auto& ending : endings) {
        ASSERT_TRUE(ending.error());
        EXPECT_EQ(ending.error()->effect(), Effect::in_doubt);
    }
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(count(1), 0);
}

// A transaction that ends before its COMMIT is sent is not in doubt: it runs again by itself.
TEST_P(LostCommitEitherWay, a_connection_lost_before_the_commit_is_invisible_to_the_caller) {
    static constexpr Sql end_connection =
        on_all("end_connection", "SELECT pg_terminate_backend(pg_backend_pid())");

    const auto endings = run_all(std::vector<Phase>(3, [this](Session& session) {
        change(session, add_one, std::int64_t{1});
        if (++ran == 2) change(session, end_connection);
    }));

    for (const auto& ending : endings) EXPECT_FALSE(ending.error());
    EXPECT_GT(ran, 3);
    EXPECT_EQ(count(1), 3);
}

// What a pooler or a distributed database says of a COMMIT whose end it does not know.
TEST_P(LostCommitEitherWay, codes_that_leave_the_end_of_a_commit_open_are_in_doubt) {
    for (const auto* code : {"40003", "08007", "08006", "08000"}) {
        ran = 0;

        const auto error = error_at_commit(code);

        ASSERT_TRUE(error) << code;
        EXPECT_EQ(error->effect(), Effect::in_doubt) << code;
        EXPECT_FALSE(error->safe_to_repeat()) << code;
        EXPECT_EQ(ran, 1) << code;
    }
}

TEST_P(LostCommitEitherWay, codes_of_a_failed_commit_are_not_in_doubt) {
    for (const auto& [code, kind] :
         {std::pair{"23514", Kind::constraint},
          std::pair{"53200", Kind::unavailable},
          std::pair{"P0001", Kind::statement}}) {
        const auto error = error_at_commit(code);

        ASSERT_TRUE(error) << code;
        EXPECT_EQ(error->effect(), Effect::rolled_back) << code;
        EXPECT_EQ(error->kind(), kind) << code;
    }
    EXPECT_EQ(count(1), 0);
}

TEST_P(LostCommitEitherWay, a_serialization_failure_at_the_commit_is_run_again) {
    const auto error = error_at_commit("once 40001");

    EXPECT_FALSE(error) << error->what();
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(count(1), 1);
}

// A phase whose neighbour's row was in its way: whether that row was ever committed, nobody knows.
TEST_P(LostCommitEitherWay, a_work_that_failed_beside_a_commit_in_doubt_is_in_doubt_too) {
    if (!GetParam()) GTEST_SKIP() << "alone it has no neighbour";
    static constexpr Sql insert = on_all("insert", "INSERT INTO counters VALUES (1000, 0)");
    const Phase fails = [](Session& session) { change(session, insert); };
    (void)run_all({fails, fails});  // From now on this kind has savepoints.
    testing::run_sql(database.url(), "DELETE FROM counters WHERE id = 1000");

    const auto endings = run_all(
        {[this](Session& session) {
             cut(1, At::before_commit);
             change(session, insert);
         },
         fails}
    );

    for (const auto& ending : endings) {
        ASSERT_TRUE(ending.error());
        EXPECT_EQ(ending.error()->effect(), Effect::in_doubt);
    }
    EXPECT_EQ(all_counts().size(), 200);
}

TEST_F(LostCommitTest, a_commit_that_the_database_answers_with_a_rollback_is_no_commit) {
    const auto given = options(0);
    Connection connection{given, clock};
    for (const auto* text : {"BEGIN", "SELECT 1/0"}) {
        connection.queue_control(text);
        try {
            (void)connection.flush();
        } catch (const StoreError&) {  // The transaction has failed, and is open.
        }
    }

    const auto error = error_of([&] { commit(connection); });

    EXPECT_EQ(error.kind(), Kind::refused);
    EXPECT_EQ(error.effect(), Effect::rolled_back);
}

// As an application meets it, over many lost commits of either sort.
TEST_F(LostCommitTest, each_of_many_unfenced_writes_happens_at_most_once) {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 40;
    testing::run_sql(database.url(), "CREATE TABLE unused (id BIGINT)");
    const auto opened = Database::open(proxy.url() + "&connections=4");
    enum class Told { nothing, done, in_doubt, not_done };
    std::vector<Told> told(threads * each);
    std::vector<std::thread> writers;

    for (std::size_t thread = 0; thread < threads; ++thread)
        writers.emplace_back([&, thread] {
            for (std::size_t i = thread * each; i < (thread + 1) * each; ++i) {
                if (i % 7 == 3) proxy.cut(1, i % 2 == 0 ? At::behind_commit : At::before_commit);
                try {
                    opened->write([&](Tx& tx) {
                        execute(tx, add_one, static_cast<std::int64_t>(i + 1));
                    });
                    told[i] = Told::done;
                } catch (const StoreError& error) {
                    const bool open = error.effect() == Effect::in_doubt;
                    told[i] = open ? Told::in_doubt : Told::not_done;
                }
            }
        });
    for (auto& writer : writers) writer.join();
    proxy.cut(0, At::before_commit);

    const auto found = all_counts();
    EXPECT_GT(proxy.cuts(), 5);
    int in_doubt = 0;
    for (std::size_t i = 0; i < told.size(); ++i) {
        in_doubt += told[i] == Told::in_doubt ? 1 : 0;
        EXPECT_LE(found[i], 1) << i;
        if (told[i] != Told::in_doubt) {
            EXPECT_EQ(found[i], told[i] == Told::done ? 1 : 0) << i;
        }
    }
    EXPECT_GT(in_doubt, 0);
}

}  // namespace pawl::postgres::lost_commit_test
