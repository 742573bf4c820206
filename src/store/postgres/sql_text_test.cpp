#include "src/store/postgres/sql_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::postgres {

TEST(CombinedTextTest, the_parameters_of_each_part_follow_those_of_the_ones_before) {
    const std::vector<StatementPart> inserts{
        {"INSERT INTO a VALUES ($1, '$2', $2) -- $9\n"}, {"INSERT INTO b VALUES ($2, $1, $10)"}};
    EXPECT_EQ(
        combined_text(inserts),
        "WITH part_0 AS (INSERT INTO a VALUES ($1, '$2', $2) -- $9\n) "
        "INSERT INTO b VALUES ($4, $3, $12)"
    );
}

TEST(CombinedTextTest, a_fence_raises_wherever_it_stands) {
    const std::string raises = "SELECT 1 / (EXISTS (SELECT FROM fenced))::int";
    EXPECT_EQ(
        combined_text(std::vector<StatementPart>{
            {"INSERT INTO a VALUES ($1)"},
            {"UPDATE k SET v = $1", true},
            {"INSERT INTO b VALUES ($1)"}}),
        "WITH part_0 AS (INSERT INTO a VALUES ($1)), fenced AS (UPDATE k SET v = $2 RETURNING 1), "
        "part_2 AS (INSERT INTO b VALUES ($3)) " +
            raises
    );
    EXPECT_EQ(
        fence_text("UPDATE k SET v = $1"),
        "WITH fenced AS (UPDATE k SET v = $1 RETURNING 1) " + raises
    );
}

TEST(ForbiddenWordTest, words_that_end_or_outlive_the_transaction_are_found) {
    for (const auto* text :
         {"COMMIT",
          "  commit;",
          "-- a comment\nRollback",
          "/* one */ BEGIN",
          "SELECT 1; COMMIT",
          "SELECT 'a;b'; END",
          "SET search_path = other",
          "RESET ALL",
          "LISTEN jobs",
          "COPY t FROM STDIN",
          "DO $$ BEGIN END $$; COMMIT",
          "CREATE FUNCTION f() RETURNS int AS $body$ BEGIN RETURN 1; END $body$ LANGUAGE plpgsql; "
          "ABORT"})
        EXPECT_FALSE(forbidden_word(text).empty()) << text;
}

TEST(ForbiddenWordTest, the_same_words_elsewhere_are_ignored) {
    for (const auto* text :
         {"SELECT commit FROM t",
          "UPDATE t SET begin = 1",
          "INSERT INTO t VALUES ('; COMMIT')",
          "-- COMMIT\nSELECT 1",
          "/* COMMIT; */ SELECT 1",
          "SELECT \"end\" FROM t",
          "DO $$ BEGIN PERFORM 1; END $$",
          "DO $a$ BEGIN PERFORM '$$; COMMIT'; END $a$;",
          "SET LOCAL lock_timeout = 5",
          "SET CONSTRAINTS ALL DEFERRED",
          "SELECT $1, $2; UPDATE t SET a = $1",
          "COMMITTED",
          ""})
        EXPECT_TRUE(forbidden_word(text).empty()) << text << ": " << forbidden_word(text);
}

TEST(OwnTransactionTest, words_that_change_the_transaction_for_all_are_found) {
    for (const auto* text :
         {"SET LOCAL ROLE app",
          "SET CONSTRAINTS ALL DEFERRED",
          "SELECT set_config('app.tenant', $1, true)",
          "create temp table t (id int)",
          "DECLARE all_of_them CURSOR FOR SELECT 1"})
        EXPECT_TRUE(needs_own_transaction(text)) << text;

    for (const auto* text :
         {"SELECT 1",
          "INSERT INTO t VALUES ('SET LOCAL')",
          "-- a temp table\nSELECT locale FROM t"})
        EXPECT_FALSE(needs_own_transaction(text)) << text;
}

TEST(FirstStatementTest, a_script_is_cut_behind_each_semicolon_that_ends_a_statement) {
    for (const std::string first :
         {"CREATE TABLE t (a INTEGER);",
          "-- one; and two\nSELECT 1;",
          "INSERT INTO t VALUES ('a;b') /* ; */;",
          "DO $$ BEGIN PERFORM 1; END $$;",
          "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);"})
        EXPECT_EQ(first_statement(first + "\nSELECT 2;"), first);

    EXPECT_EQ(first_statement("SELECT 1"), "SELECT 1");
    EXPECT_EQ(first_statement(""), "");
}

}  // namespace pawl::postgres
