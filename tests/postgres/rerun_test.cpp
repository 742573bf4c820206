#include "tests/postgres/two_stores.hpp"

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <stdexcept>

// Issue 16, number 22: a phase that met another transaction runs again, even if its code caught the
// error.
namespace pawl::postgres::rerun_test {

namespace {

using Kind = StoreError::Kind;

// Fails with the given code in its first `times` calls.
constexpr auto fail_at_first = on_all<2>("fail_at_first", "SELECT fail_at_first($1, $2)");
constexpr Sql backend = on_all("backend", "SELECT pg_backend_pid()");
constexpr const char* functions = R"(
CREATE SEQUENCE calls;
CREATE FUNCTION fail_at_first(code TEXT, times BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('calls') > times THEN RETURN 0; END IF;
    RAISE EXCEPTION 'as the test says' USING ERRCODE = code;
END $$;
)";

struct OfThePhase : std::runtime_error {
    OfThePhase() : std::runtime_error{"of the phase"} {}
};

class RerunTest : public ::testing::TestWithParam<int> {
protected:
    RerunTest() {
        write_one(store, notes::create);
        testing::run_sql(database.url(), functions);
    }
    // A phase that inserts a note and meets `code` in its first `times` runs; `meet` gets the
    // function that meets it.
    template <class Meet>
    std::exception_ptr end_of(const std::string& code, std::int64_t times, Meet meet) {
        Ending ending;
        store.write(std::make_unique<Phase>(
            [&](Tx& tx) {
                ++ran;
                execute(tx, notes::insert, std::string{"a"});
                meet(tx, [&] { (void)query<std::int64_t>(tx, fail_at_first, code, times); });
            },
            ending.work({}),
            Isolation::read_committed,
            5s
        ));
        return ending.wait();
    }
    int note_count() {
        return static_cast<int>(read_rows<std::int64_t>(store, notes::count).at(0));
    }

    testing::PostgresDatabase database;
    std::atomic<int> ran{0};
    PostgresStore store{
        {.url = database.url(), .connections = 2, .sharing = GetParam(), .reruns_max = 5},
        base::system_clock(),
        base::system_random()};
};
INSTANTIATE_TEST_SUITE_P(Sharing, RerunTest, ::testing::Values(0, 1), [](const auto& of) {
    return of.param == 0 ? "alone" : "shared";
});

constexpr auto wraps = [](Tx&, const auto& fail) {
    try {
        fail();
    } catch (const std::exception&) {
        throw OfThePhase{};
    }
};

}  // namespace

TEST_P(RerunTest, a_phase_that_wraps_the_error_is_run_again) {
    for (const auto* code : {"40001", "40P01"}) {
        testing::run_sql(database.url(), "ALTER SEQUENCE calls RESTART; DELETE FROM notes");
        ran = 0;

        const auto failed = end_of(code, 2, wraps);

        EXPECT_FALSE(failed) << code;
        EXPECT_EQ(ran, 3) << code;
        EXPECT_EQ(note_count(), 1) << code;
    }
}

TEST_P(RerunTest, a_phase_that_swallows_the_error_is_run_again) {
    const auto failed = end_of("40001", 2, [](Tx&, const auto& fail) {
        try {
            fail();
        } catch (const std::exception&) {
        }
    });

    EXPECT_FALSE(failed);
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(note_count(), 1);
}

// The attempt was rolled back, so that the transaction goes on; the phase throws.
TEST_P(RerunTest, a_phase_that_wraps_an_attempts_error_is_run_again) {
    const auto failed = end_of("40001", 2, [](Tx& tx, const auto& fail) {
        try {
            (void)tx.attempt(fail);
        } catch (const std::exception&) {
            throw OfThePhase{};
        }
    });

    EXPECT_FALSE(failed);
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(note_count(), 1);
}

TEST_P(RerunTest, endless_contention_ends_after_the_reruns) {
    const auto failed = end_of("40001", 1'000, wraps);

    EXPECT_TRUE(store::is_store_error(failed, Kind::contention));
    EXPECT_EQ(ran, 6 + GetParam());  // Shared once, then alone.
    EXPECT_EQ(note_count(), 0);
}

TEST_P(RerunTest, a_phases_own_exception_is_passed_on_without_a_rerun) {
    for (const auto* code : {"23505", "P0001", "42P01"}) {
        testing::run_sql(database.url(), "ALTER SEQUENCE calls RESTART");
        ran = 0;

        EXPECT_THROW(std::rethrow_exception(end_of(code, 2, wraps)), OfThePhase) << code;

        EXPECT_EQ(ran, 1) << code;
    }
    EXPECT_EQ(note_count(), 0);
}

TEST_P(RerunTest, a_temporary_error_is_left_to_the_caller_to_repeat) {
    for (const auto& [code, kind] :
         {std::pair{"55P03", Kind::locked}, std::pair{"53100", Kind::full}}) {
        testing::run_sql(database.url(), "ALTER SEQUENCE calls RESTART");
        ran = 0;

        const auto failed = end_of(code, 1'000, wraps);

        EXPECT_TRUE(store::is_store_error(failed, kind)) << code;
        EXPECT_EQ(ran, 1 + GetParam()) << code;
    }
    EXPECT_EQ(note_count(), 0);
}

// Its transaction is still open, and the answer to ROLLBACK may come at any time. Nothing is in
// doubt, although a phase without awaited answers sends its COMMIT with the rest.
TEST_P(RerunTest, a_work_that_cannot_roll_back_is_run_again_on_a_new_connection) {
    for (const bool asks : {false, true}) {
        testing::run_sql(database.url(), "DELETE FROM notes");
        pid_t silent = 0;
        Ending ending;

        store.write(ending.work([&](Session& session) {
            if (silent == 0) {
                silent = static_cast<pid_t>(rows<std::int64_t>(session, backend).at(0));
                ::kill(silent, SIGSTOP);
                throw StoreError{Kind::contention, StoreError::Effect::none, "", "as in the test"};
            }
            ::kill(silent, SIGCONT);
            detail::send_statement(session, notes::insert, "a");
            if (asks) (void)rows<std::int64_t>(session, backend);
        }));

        const auto error = ending.error();
        EXPECT_FALSE(error) << asks << error->what();
        EXPECT_EQ(note_count(), 1) << asks;
    }
}

}  // namespace pawl::postgres::rerun_test
