#include "src/store/postgres/connection.hpp"

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/postgres/row.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string_view>

// What a connection must withstand: an answer without end, an old clock, and translated messages.
namespace pawl::postgres::connection_test {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;

constexpr Sql all_of_things = on_all("all_of_things", "SELECT * FROM things");
constexpr Sql one = on_all("one", "SELECT 1");
constexpr Sql sleep = on_all("sleep", "SELECT pg_sleep(1.5)");

class ConnectionTest : public ::testing::Test {
protected:
    // This process's server speaks German, if its translation is installed.
    static void SetUpTestSuite() { ::setenv("LANGUAGE", "de", 1); }

    ConnectionTest() {
        testing::run_sql(
            database.url(), "CREATE TABLE things (id BIGINT); INSERT INTO things VALUES (1)"
        );
    }
    Result run(const Sql& statement) {
        connection.queue(statement, {}, Connection::Use::plain);
        return connection.flush();
    }
    StoreError error_of_control(const char* text) {
        return error_of([&] {
            connection.queue_control(text);
            (void)connection.flush();
        });
    }

    testing::PostgresDatabase database;
    PostgresOptions options{.url = database.url(), .connections = 1};
    base::Clock& clock{base::system_clock()};
    Connection connection{options, clock};
};

}  // namespace

// The first run of a statement does not know yet which of its parameters are times
// (parameters.hpp).
TEST_F(ConnectionTest, a_time_is_the_same_as_text_and_in_binary) {
    constexpr auto same = on_all(
        "same",
        "SELECT $1::timestamptz, $1 = '2027-01-15 08:00:00.123Z'::timestamptz, $2::text, "
        "$3::timestamptz"
    );
    for (int times = 0; times < 3; ++times) {
        const std::string_view at = "2027-01-15T08:00:00.123Z";
        const std::string_view elsewhere = "2027-01-15 09:00:00.5+01";
        const std::array<detail::Value, 3> values{at, at, elsewhere};
        connection.queue(same, values, Connection::Use::plain);
        const auto result = connection.flush();
        const PostgresRow row{result.get(), "same"};

        EXPECT_EQ(row.text(0), at);
        EXPECT_EQ(row.integer(1), 1);
        EXPECT_EQ(row.text(2), at);
        EXPECT_EQ(row.text(3), "2027-01-15T08:00:00.500Z");
    }
}

// PostgreSQL refuses this year as a text.
TEST_F(ConnectionTest, a_time_is_sent_in_binary_from_the_second_run_on) {
    constexpr auto is_old =
        on_all("is_old", "SELECT ($1::timestamptz < '1970-01-01Z'::timestamptz)::int");
    const auto run_at = [&](std::string_view at) {
        const std::array<detail::Value, 1> values{at};
        connection.queue(is_old, values, Connection::Use::plain);
        const auto result = connection.flush();
        return PostgresRow{result.get(), "is_old"}.integer(0);
    };
    EXPECT_EQ(run_at("2027-01-15T08:00:00.123Z"), 0);

    EXPECT_EQ(run_at("0000-06-01T00:00:00.000Z"), 1);
}

// The check of a statement's first word refuses it earlier; without that check nothing may hang
// either.
TEST_F(ConnectionTest, copy_ends_the_connection_without_hanging) {
    for (const auto* copy : {"COPY things FROM STDIN", "COPY things TO STDOUT"}) {
        SCOPED_TRACE(copy);
        Connection another{options, clock};
        another.set_deadline(5s);

        const auto error = error_of([&] {
            another.queue_control(copy);
            (void)another.flush();
        });

        EXPECT_EQ(error.kind(), Kind::refused);  // A bug of the program, which is never repeated.
        EXPECT_FALSE(another.usable());
    }
}

// E'\'' contains a quote, which the check of a script's words takes for its end.
TEST_F(ConnectionTest, copy_in_a_script_ends_the_connection_without_hanging) {
    for (const auto* script :
         {R"(SELECT E'\''; COPY things FROM STDIN; --')",
          R"(SELECT E'\''; COPY things TO STDOUT; --')"}) {
        SCOPED_TRACE(script);
        Connection another{options, clock};
        another.set_deadline(5s);

        const auto error = error_of([&] { another.script("copies", script); });

        EXPECT_EQ(error.kind(), Kind::refused);  // A bug of the program, which is never repeated.
        EXPECT_FALSE(another.usable());
    }
}

TEST_F(ConnectionTest, a_clock_that_came_with_slow_statements_is_ignored) {
    PostgresStore store{options, clock, base::system_random()};

    write_now(store, [&](Session& session) {
        detail::send_statement(session, sleep);
        (void)rows<int>(session, one);  // One packet: afterwards the clock's answer is 1.5 s old.
        const auto asked_at = clock.now();

        const auto now = session.now();

        EXPECT_GT(now, asked_at - 750ms);
        EXPECT_LT(now, clock.now() + 50ms);
    });
}

TEST_F(ConnectionTest, an_outdated_plan_is_recognized_by_its_code_in_any_language) {
    (void)run(all_of_things);
    testing::run_sql(database.url(), "ALTER TABLE things ADD COLUMN name TEXT");

    const auto error = error_of([&] { (void)run(all_of_things); });

    EXPECT_EQ(error.kind(), Kind::contention)
        << error.what();  // Run again, and then prepared anew.
    EXPECT_NO_THROW((void)run(all_of_things));
    if (std::string_view{error.what()}.find("cached plan") != std::string_view::npos)
        GTEST_SKIP() << "the server speaks English: that its words do not matter was not seen";
}

// The same code: a statement that PostgreSQL never supports.
TEST_F(ConnectionTest, an_unsupported_statement_is_not_an_outdated_plan) {
    const Sql locks_groups{"locks_groups", {}, "SELECT id FROM things GROUP BY id FOR UPDATE"};

    const auto error = error_of([&] { (void)run(locks_groups); });

    EXPECT_EQ(error.kind(), Kind::statement) << error.what();
}

// Issue 16, number 22. Late answers to earlier statements would be mistaken for those of new ones.
TEST_F(ConnectionTest, a_closed_connection_executes_nothing) {
    connection.give_up();

    EXPECT_EQ(error_of([&] { (void)run(one); }).kind(), Kind::unavailable);
}

}  // namespace pawl::postgres::connection_test
