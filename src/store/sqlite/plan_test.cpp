// No statement that a server repeats scans a whole table: with a million finished keys such a
// statement took a third of a core.

#include "store/migrations.hpp"
#include "store/statements.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <set>
#include <string>
#include <vector>

namespace pawl::sqlite {
namespace {

// For operators, or once at a server's start.
const std::set<std::string_view> by_hand{
    "count_dead_jobs",
    "count_jobs",
    "count_retries",
    // After a change of queue, and one row of what may be there:
    "find_waiting_job",
    "pick_ready_jobs"};

class Plan : public ::testing::Test {
protected:
    Plan() {
        EXPECT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
        const Sql& migrations = sql::create_migrations;
        std::vector<const Sql*> scripts{&migrations};
        scripts.insert(scripts.end(), sql::migrations::all.begin(), sql::migrations::all.end());
        for (const auto* script : scripts) {
            const std::string text{script->sqlite};
            EXPECT_EQ(run(text.c_str()), SQLITE_OK) << sqlite3_errmsg(db_);
        }
    }
    ~Plan() override { sqlite3_close(db_); }

    int run(const char* text) { return sqlite3_exec(db_, text, nullptr, nullptr, nullptr); }

    std::vector<std::string> steps_of(std::string_view text) {
        sqlite3_stmt* statement = nullptr;
        const auto explained = "EXPLAIN QUERY PLAN " + std::string{text};
        EXPECT_EQ(sqlite3_prepare_v2(db_, explained.c_str(), -1, &statement, nullptr), SQLITE_OK)
            << sqlite3_errmsg(db_);
        std::vector<std::string> steps;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const void* step = sqlite3_column_text(statement, 3);
            steps.emplace_back(static_cast<const char*>(step));
        }
        sqlite3_finalize(statement);
        return steps;
    }

    // Whether the statement builds a temporary table each time it runs.
    bool builds_a_table(std::string_view text) {
        sqlite3_stmt* statement = nullptr;
        const auto explained = "EXPLAIN " + std::string{text};
        EXPECT_EQ(sqlite3_prepare_v2(db_, explained.c_str(), -1, &statement, nullptr), SQLITE_OK)
            << sqlite3_errmsg(db_);
        bool builds = false;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const void* opcode = sqlite3_column_text(statement, 1);
            if (std::string_view{static_cast<const char*>(opcode)} == "OpenEphemeral")
                builds = true;
        }
        sqlite3_finalize(statement);
        return builds;
    }

    static bool walks(const std::string& step, const std::string& table) {
        const auto scan = "SCAN " + table;
        // A partial index has only open, leased or expired rows.
        return step.starts_with(scan) && step.find(" INDEX ") == step.npos;
    }

    sqlite3* db_{};
};

TEST_F(Plan, no_statement_of_a_server_scans_keys_registry_or_jobs) {
    int looked_at = 0;

    for (const auto* statement : sql::all) {
        if (by_hand.contains(statement->name)) continue;
        ++looked_at;
        for (const auto& step : steps_of(statement->sqlite))
            for (const auto* table :
                 {"pawl_idempotency_keys",
                  "pawl_key_registry",
                  "pawl_jobs",
                  "pawl_leases",
                  "pawl_fencing_tokens",
                  "pawl_once_windows"})
                EXPECT_FALSE(walks(step, table)) << statement->name << ": " << step;
    }

    EXPECT_GE(looked_at, 40);
}

// A temporary table costs 3 us: RETURNING builds one, and IN with more than two values, also in a
// CHECK (ADR 40).
TEST_F(Plan, no_statement_of_a_request_builds_a_temporary_table) {
    for (const Sql* statement : std::initializer_list<const Sql*>{
             &sql::find_key,
             &sql::claim_key,
             &sql::find_claimed_id,
             &sql::insert_key,
             &sql::insert_key_finished,
             &sql::insert_key_events,
             &sql::insert_key_reference,
             &sql::insert_job,
             &sql::move_key,
             &sql::finish_key})
        EXPECT_FALSE(builds_a_table(statement->sqlite)) << statement->name;
    EXPECT_TRUE(builds_a_table("UPDATE pawl_marks SET number = 1 RETURNING number"));
}

TEST_F(Plan, the_keys_still_have_only_known_states) {
    EXPECT_EQ(run("PRAGMA integrity_check"), SQLITE_OK);
    EXPECT_EQ(
        run("INSERT INTO pawl_idempotency_keys (id, hash, tenant, account, idempotency_key, "
            "operation, request_method, request_path, origin, fingerprint, secret_version, params, "
            "status, attempt, recovery_point, recovery_data, created_at, last_run_at) VALUES (1, "
            "'h', 't', 'a', 'k', 'o', 'POST', '/', 'ip', 'f', 1, '{}', 'closed', 1, 'p', '{}', "
            "'now', 'now')"),
        SQLITE_CONSTRAINT
    );
    EXPECT_EQ(sqlite3_extended_errcode(db_), SQLITE_CONSTRAINT_CHECK) << sqlite3_errmsg(db_);
}

TEST_F(Plan, the_check_recognizes_a_full_scan) {
    const auto steps = steps_of("SELECT id FROM pawl_idempotency_keys WHERE origin = 'jane'");

    ASSERT_EQ(steps.size(), 1U);
    EXPECT_TRUE(walks(steps[0], "pawl_idempotency_keys")) << steps[0];
}

}  // namespace
}  // namespace pawl::sqlite
