#include "src/base/clock.hpp"
#include "src/store/postgres/connection.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>
#include <postgresql/libpq-fe.h>

#include <array>
#include <string>
#include <vector>

// Jobs that one work stages in a row reach the database as one statement (gather_rows.cpp), and a
// key's row with what is written beside it as another (combine_statements.cpp). The statement's
// name in an error shows which one it was.
namespace pawl::postgres::gather_rows_test {

namespace {

using namespace conformance;
using detail::Value;
using Use = Connection::Use;

constexpr Sql jobs = on_all("jobs", "SELECT jid, args, key_id FROM pawl_jobs ORDER BY id");
constexpr Sql staged =
    on_all("staged", "SELECT jid, args, key_id FROM pawl_staged_jobs ORDER BY id");

class GatherRowsTest : public ::testing::Test {
protected:
    GatherRowsTest() {
        std::string tables{sql::create_migrations.postgres};
        for (const auto* migration : sql::migrations::all)
            tables += ";" + std::string{migration->postgres};
        testing::run_sql(database.url(), tables);
    }

    void stage(
        const Sql& insert,
        const Value& jid,
        std::string_view args = "{}",
        const Value& key = std::monostate{}
    ) {
        const std::string_view at = "2027-01-01 00:00:00.001+00";
        const std::array<Value, 7> values{jid, "default", "k", args, at, key, at};
        connection.queue(insert, values, Use::plain);
    }
    void commit() {
        connection.queue_commit();
        (void)connection.flush();
    }
    void begin() { connection.queue_control("BEGIN"); }
    std::string failing_statement() {
        return std::string{error_of([&] { commit(); }).statement()};
    }
    std::vector<std::string> read(const Sql& statement) {
        connection.queue(statement, {}, Use::plain);
        const auto result = connection.flush();
        std::vector<std::string> rows;
        for (int i = 0; i < PQntuples(result.get()); ++i) {
            std::string row;
            for (int column = 0; column < 3; ++column)
                row += std::string{PQgetvalue(result.get(), i, column)} + " ";
            rows.push_back(row);
        }
        return rows;
    }

    void refer(std::int64_t key, const Value& name, std::string_view id) {
        const std::array<Value, 3> values{key, name, id};
        connection.queue(sql::insert_key_reference, values, Use::plain);
    }
    void insert_key(std::int64_t id) {
        const std::string_view at = "2027-01-01T00:00:00.000Z";
        const std::array<Value, 23> values{
            id,
            "h",
            "t",
            "a",
            "k",
            "op",
            "POST",
            "/",
            "o",
            "f",
            std::int64_t{1},
            "{}",
            at,
            "p",
            "{}",
            "c",
            at,
            std::int64_t{0},
            at,
            Value{},
            std::int64_t{0},
            Value{},
            Value{}};
        connection.queue(sql::insert_key, values, Use::plain);
    }
    // Of attempt 1, at recovery point p.
    void finish_key(std::int64_t id, std::int64_t attempt = 1) {
        const std::string_view at = "2027-01-01T00:00:00.000Z";
        const std::array<Value, 9> values{
            id, attempt, "p", std::int64_t{201}, "text/plain", "[]", "body", at, at};
        connection.queue(sql::finish_key, values, Use::fence);
    }
    void note(std::int64_t key, std::string_view events) {
        const std::array<Value, 4> values{key, std::int64_t{1}, std::int64_t{0}, events};
        connection.queue(sql::insert_key_events, values, Use::plain);
    }

    testing::PostgresDatabase database;
    PostgresOptions options{.url = database.url(), .connections = 1};
    Connection connection{options, base::system_clock()};
    static constexpr std::monostate null{};
};

}  // namespace

TEST_F(GatherRowsTest, rows_arrive_in_order_and_unchanged) {
    const auto* args = R"({"text":"a \"quote\", a \\ and \u0000, Zürich 🚕","list":[1,null]})";
    for (const auto& [insert, all] :
         {std::pair{&sql::insert_job, &jobs}, std::pair{&sql::insert_staged_job, &staged}}) {
        begin();
        for (int i = 0; i < 2'500; ++i)
            stage(*insert, std::to_string(i), args, i % 2 == 0 ? Value{std::int64_t{i}} : Value{});
        commit();

        const auto rows = read(*all);
        ASSERT_EQ(rows.size(), 2'500U);
        for (int i = 0; i < 2'500; ++i) {
            const auto key = i % 2 == 0 ? std::to_string(i) : "";
            EXPECT_EQ(
                rows[static_cast<std::size_t>(i)], std::to_string(i) + " " + args + " " + key + " "
            );
        }
    }
}

TEST_F(GatherRowsTest, two_rows_are_one_statement) {
    begin();
    stage(sql::insert_job, "a");
    stage(sql::insert_job, null);

    EXPECT_EQ(failing_statement(), "insert_two_jobs");
}

TEST_F(GatherRowsTest, two_staged_rows_are_one_statement) {
    begin();
    stage(sql::insert_staged_job, "a");
    stage(sql::insert_staged_job, null);
    EXPECT_EQ(failing_statement(), "insert_two_staged_jobs");
}

TEST_F(GatherRowsTest, three_rows_are_one_statement) {
    begin();
    for (const auto* jid : {"a", "b"}) stage(sql::insert_job, jid);
    stage(sql::insert_job, null);

    EXPECT_EQ(failing_statement(), "insert_jobs");
}

TEST_F(GatherRowsTest, two_rows_arrive_in_order_and_unchanged) {
    const auto* args = R"({"text":"a \"quote\", a \\ and \u0000, Zürich 🚕","list":[1,null]})";
    for (const auto& [insert, all] :
         {std::pair{&sql::insert_job, &jobs}, std::pair{&sql::insert_staged_job, &staged}}) {
        begin();
        stage(*insert, "1", args, std::int64_t{7});
        stage(*insert, "2", args);
        commit();

        EXPECT_EQ(
            read(*all),
            (std::vector{"1 " + std::string{args} + " 7 ", "2 " + std::string{args} + "  "})
        );
    }
}

TEST_F(GatherRowsTest, two_references_are_one_statement) {
    static constexpr Sql references =
        on_all("references", "SELECT key_id, name, id FROM pawl_key_references ORDER BY name");
    begin();
    refer(7, "request", "a \"quoted\" id");
    refer(7, "ride", "17");
    commit();

    EXPECT_EQ(
        read(references), (std::vector<std::string>{"7 request a \"quoted\" id ", "7 ride 17 "})
    );
    begin();
    refer(7, "charge", "ch_1");
    refer(7, null, "ch_2");
    EXPECT_EQ(failing_statement(), "insert_two_key_references");
}

TEST_F(GatherRowsTest, a_single_row_is_its_own_statement) {
    begin();
    stage(sql::insert_staged_job, "a");
    stage(sql::insert_job, null);
    stage(sql::insert_staged_job, "b");

    EXPECT_EQ(failing_statement(), "insert_job");
}

TEST_F(GatherRowsTest, rows_of_two_works_are_not_mixed) {
    begin();
    connection.begin_next_work();
    stage(sql::insert_job, "a");
    connection.begin_next_work();
    stage(sql::insert_job, null);

    EXPECT_EQ(failing_statement(), "insert_job");
}

TEST_F(GatherRowsTest, what_a_phase_writes_with_its_key_is_one_statement) {
    static constexpr Sql written = on_all(
        "written",
        "SELECT k.status || ' ' || k.response_body, e.events, string_agg(r.name || ' ' || r.id, ', "
        "' ORDER BY r.id) "
        "FROM pawl_idempotency_keys AS k JOIN pawl_key_events AS e ON e.key_id = k.id "
        "JOIN pawl_key_references AS r ON r.key_id = k.id GROUP BY 1, 2"
    );
    begin();
    refer(7, "request", "1");
    refer(7, "ride", "2");
    insert_key(7);
    commit();
    begin();
    stage(sql::insert_job, "a", "{}", std::int64_t{7});
    finish_key(7);
    note(7, "events");
    refer(7, "charge", "3");
    commit();

    EXPECT_EQ(
        read(written), std::vector<std::string>{"finished body events request 1, ride 2, charge 3 "}
    );
    EXPECT_EQ(read(jobs), std::vector<std::string>{"a {} 7 "});
    begin();
    refer(8, null, "1");
    insert_key(8);
    EXPECT_EQ(failing_statement(), "insert_key");
}

// PostgreSQL would run the second one first, and a worker takes jobs by their ids.
TEST_F(GatherRowsTest, two_lists_of_jobs_keep_their_order_beside_a_key) {
    begin();
    insert_key(7);
    commit();
    const std::string large = '"' + std::string(600'000, 'x') + '"';
    begin();
    stage(sql::insert_job, "a", large);
    stage(sql::insert_job, "b", large);
    stage(sql::insert_job, "c");
    finish_key(7);
    note(7, "events");
    commit();

    const auto rows = read(jobs);
    ASSERT_EQ(rows.size(), 3U);
    for (const auto i : {0, 1, 2}) EXPECT_EQ(rows.at(static_cast<std::size_t>(i))[0], "abc"[i]);
}

// As behind PgBouncer.
TEST_F(GatherRowsTest, statements_are_combined_without_prepared_ones_too) {
    options.prepared = false;
    begin();
    refer(7, "request", "1");
    insert_key(7);
    commit();
    begin();
    stage(sql::insert_job, "a");
    finish_key(7);
    note(7, "events");
    commit();

    EXPECT_EQ(read(jobs), std::vector<std::string>{"a {}  "});
    begin();
    note(7, "more");
    finish_key(7);
    EXPECT_EQ(failing_statement(), "finish_key");
}

// A lost fence rolls all parts back.
TEST_F(GatherRowsTest, a_lost_fence_takes_back_what_is_written_with_it) {
    begin();
    insert_key(7);
    commit();
    begin();
    stage(sql::insert_job, "a");
    finish_key(7, 2);
    note(7, "events");

    const auto error = error_of([&] { commit(); });

    EXPECT_EQ(error.kind(), StoreError::Kind::fenced);
    EXPECT_EQ(error.statement(), "finish_key");
    connection.queue_control("ROLLBACK");
    (void)connection.flush();
    EXPECT_EQ(read(jobs).size(), 0U);
}

TEST_F(GatherRowsTest, keys_of_two_works_are_not_combined) {
    begin();
    connection.begin_next_work();
    refer(7, null, "1");
    connection.begin_next_work();
    insert_key(8);

    EXPECT_EQ(failing_statement(), "insert_key_reference");
}

// PostgreSQL itself says what is wrong with it.
TEST_F(GatherRowsTest, a_text_that_is_not_utf_8_is_sent_alone) {
    begin();
    stage(sql::insert_job, "a");
    stage(sql::insert_job, "b", "\xff");
    stage(sql::insert_job, "c");

    EXPECT_EQ(failing_statement(), "insert_job");
}

// The caller reads its answer.
TEST_F(GatherRowsTest, the_last_statement_before_a_flush_is_sent_alone) {
    begin();
    for (const auto* jid : {"a", "b", "c"}) stage(sql::insert_job, jid);

    const auto last = connection.flush();

    EXPECT_STREQ(PQcmdTuples(last.get()), "1");
    commit();
    EXPECT_EQ(read(jobs).size(), 3U);
}

}  // namespace pawl::postgres::gather_rows_test
