// No statement that a server repeats reads a whole table or index on PostgreSQL: on tables that are
// not analyzed yet, where it guesses and on analyzed ones; with the generic plan that a prepared
// statement may get, and with a plan for its values.

#include "rides/migrations.hpp"
#include "store/migrations.hpp"
#include "tests/postgres/cluster.hpp"
#include "tests/postgres/plan_fill.hpp"
#include "tests/postgres/plan_statements.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pawl::plans {
namespace {

namespace json = boost::json;
using interleaving::Connection;

const std::set<std::string> large{
    "pawl_attention",
    "pawl_audit_log",
    "audit_records",
    "pawl_dead_jobs",
    "pawl_idempotency_keys",
    "pawl_inbox",
    "pawl_jobs",
    "pawl_key_references",
    "pawl_key_registry",
    "rides",
    "pawl_staged_jobs",
    "users"};

std::string text_of(const json::object& node, const char* name) {
    const auto* found = node.if_contains(name);
    return found == nullptr ? "" : std::string{found->as_string()};
}

// Finds what a plan reads from end to end.
class Walks {
public:
    static std::vector<std::string> of(const json::object& plan) {
        Walks walks;
        walks.visit(plan, "", false);
        return walks.found_;
    }

private:
    // `limited`: the node above takes only the first rows. That does not excuse a filter, which may
    // skip a million rows before the first match.
    void visit(const json::object& node, const std::string& table_above, bool limited) {
        const auto type = text_of(node, "Node Type");
        auto table = text_of(node, "Relation Name");
        if (table.empty()) table = table_above;
        const bool is_index = type.ends_with("Index Scan") || type == "Index Only Scan";
        const bool picks = node.contains("Filter");
        if (large.contains(table)) {
            if (type == "Seq Scan" && (picks || !limited)) found_.push_back(table);
            if (is_index && !node.contains("Index Cond") && (picks || !limited))
                found_.push_back(text_of(node, "Index Name"));
        }
        const bool passes_on =
            type == "LockRows" || type == "Subquery Scan" || type == "Result" || type == "Append";
        const auto* below = node.if_contains("Plans");
        if (below == nullptr) return;
        for (const auto& child : below->as_array())
            visit(child.as_object(), table, type == "Limit" || (limited && passes_on && !picks));
    }

    std::vector<std::string> found_;
};

std::string literals(const std::vector<Text>& values) {
    std::string list;
    for (const auto& value : values) {
        if (!list.empty()) list += ", ";
        list += value ? "'" + *value + "'" : "NULL";
    }
    return list.empty() ? "" : "(" + list + ")";
}

// A database with the tables of Pawl and of Rocket Rides, initially empty.
class Tables {
public:
    enum class Plan { generic, custom };

    Tables() {
        connection.now(std::string{sql::create_migrations.postgres});
        for (const auto* migration : sql::migrations::all)
            connection.now(std::string{migration->postgres});
        for (const auto* migration : rides::sql::migrations::all)
            connection.now(std::string{migration->postgres});
        connection.now(switch_autovacuum_off);
    }
    void fill() {
        for (const auto* rows : {fill_keys, fill_jobs, fill_kafka, fill_locks, fill_rides})
            connection.now(rows);
    }

    // As ANALYZE leaves the queue if all jobs were done at that time, until the next one.
    void analyze_empty_queue() {
        connection.now(
            "UPDATE pg_class SET reltuples = 0, relpages = 10 "
            "WHERE relkind IN ('r', 'i') AND relname ~ '^pawl_(staged_)?jobs'"
        );
    }

    void plan_by(Plan how) {
        connection.now(
            "SET plan_cache_mode = " +
            std::string{how == Plan::generic ? "force_generic_plan" : "force_custom_plan"}
        );
    }
    // Runs the statement and rolls back; returns its plan with the blocks read.
    json::object run(const std::string& text, const std::vector<Text>& values) {
        return explain("ANALYZE, BUFFERS, TIMING OFF, ", text, values);
    }
    json::object plan(const std::string& text, const std::vector<Text>& values) {
        return explain("", text, values);
    }

    // As in connection.cpp.
    static std::string fenced(std::string_view text) {
        return "WITH fenced AS (" + std::string{text} +
               " RETURNING 1) SELECT 1 / (EXISTS (SELECT FROM fenced))::int";
    }

    void check_plan(const Case& of, const json::object& found) {
        for (const auto& walked : Walks::of(found))
            EXPECT_TRUE(of.walks.contains(walked)) << "it reads through all of " << walked << ":\n"
                                                   << json::serialize(found);
    }
    void check_blocks(const Case& of, const json::object& found) {
        const auto blocks =
            found.at("Shared Hit Blocks").as_int64() + found.at("Shared Read Blocks").as_int64();
        if (of.blocks_max == 0) return;
        EXPECT_LE(blocks, of.blocks_max) << json::serialize(found);
    }

    testing::PostgresDatabase database;
    Connection connection{database.url()};

private:
    json::object explain(
        const std::string& how, const std::string& text, const std::vector<Text>& values
    ) {
        connection.now("BEGIN; PREPARE explained AS " + text);
        const auto told =
            connection.now("EXPLAIN (" + how + "FORMAT JSON) EXECUTE explained" + literals(values));
        connection.now("ROLLBACK; DEALLOCATE explained");
        const auto plans = json::parse(*told.rows.at(0).at(0));
        return plans.at(0).at("Plan").as_object();
    }
};

bool is_about_large_tables(const json::object& node) {
    if (large.contains(text_of(node, "Relation Name"))) return true;
    const auto* below = node.if_contains("Plans");
    if (below == nullptr) return false;
    return std::any_of(below->as_array().begin(), below->as_array().end(), [](const auto& child) {
        return is_about_large_tables(child.as_object());
    });
}

// Otherwise the values are wrong, and the measurement is meaningless.
bool found_a_row(const json::object& plan) {
    const bool writes = text_of(plan, "Node Type") == "ModifyTable";
    const auto& node = writes ? plan.at("Plans").at(0).as_object() : plan;
    return node.at("Actual Rows").to_number<double>() > 0;
}

std::vector<const Sql*> named_statements() {
    std::vector<const Sql*> all(sql::all.begin(), sql::all.end());
    all.insert(all.end(), rides::sql::all.begin(), rides::sql::all.end());
    all.insert(all.end(), sql::postgres::all.begin(), sql::postgres::all.end());
    all.insert(all.end(), sql::doctor::all.begin(), sql::doctor::all.end());
    return all;
}

}  // namespace

TEST(Plans, every_named_statement_has_a_case) {
    std::map<const Sql*, int> looked_at;
    for (const auto& of : all_cases()) ++looked_at[of.sql];
    looked_at[&sql::create_migrations] = 1;  // CREATE TABLE has no plan.

    for (const auto* statement : named_statements())
        EXPECT_EQ(looked_at[statement], 1) << statement->name << ": give it a Case, with values";

    EXPECT_EQ(looked_at.size(), named_statements().size());
}

TEST(Plans, a_statement_that_reads_a_whole_table_has_a_reason) {
    for (const auto& of : all_cases()) {
        EXPECT_EQ(of.walks.empty(), of.because.empty()) << of.sql->name;
        EXPECT_TRUE(of.blocks_max > 0 || !of.walks.empty()) << of.sql->name;
    }
}

// A server prepares its statements at its first start, and keeps these plans until the tables are
// analyzed. PostgreSQL estimates ten or a hundred values in an array or a JSON text, which in an
// empty table may be all there is.
TEST(Plans, no_statement_begins_with_a_plan_that_reads_whole_tables) {
    Tables tables;
    tables.plan_by(Tables::Plan::generic);
    const std::set<const Sql*> of_many{
        &sql::claim_jobs,
        &sql::claim_picked_jobs,
        &sql::claim_staged_jobs,
        &sql::delete_keys,
        &sql::delete_staged_jobs,
        &sql::expire_keys,
        &sql::release_staged_jobs,
        &sql::rescue_jobs,
        &sql::search_keys_by_id};

    for (const auto& of : all_cases()) {
        if (of_many.contains(of.sql)) continue;
        SCOPED_TRACE(of.sql->name);
        tables.check_plan(of, tables.plan(std::string{of.sql->postgres}, of.values));
    }
}

// To fill the tables takes longer than to look at all plans. The tests run in this order: the first
// begins on tables that were never analyzed.
class PlansOnAMillionKeys : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        filled_ = std::make_unique<Tables>();
        filled_->fill();
    }
    static void TearDownTestSuite() { filled_.reset(); }
    static Tables& tables() { return *filled_; }

private:
    inline static std::unique_ptr<Tables> filled_;
};

TEST_F(PlansOnAMillionKeys, no_statement_of_a_server_reads_through_them) {
    for (const std::string state : {"never analyzed", "analyzed"}) {
        if (state == "analyzed") tables().connection.now("ANALYZE");
        for (const auto plan : {Tables::Plan::generic, Tables::Plan::custom}) {
            tables().plan_by(plan);
            for (const auto& of : all_cases()) {
                SCOPED_TRACE(
                    std::string{of.sql->name} + ", " + state +
                    (plan == Tables::Plan::generic ? ", generic plan" : ", custom plan")
                );
                std::vector<std::string> texts{std::string{of.sql->postgres}};
                if (of.fenced) texts.push_back(Tables::fenced(of.sql->postgres));
                for (const auto& text : texts) {
                    const auto found = tables().run(text, of.values);
                    tables().check_plan(of, found);
                    tables().check_blocks(of, found);
                    EXPECT_TRUE(found_a_row(found) || !is_about_large_tables(found));
                }
            }
        }
    }
}

// A queue that was analyzed when it was empty, and is full a second later: PostgreSQL believes that
// any index will do. Claims of a queue with turns took 77 ms (issue 18, part 1).
TEST_F(PlansOnAMillionKeys, no_statement_of_workers_trusts_that_the_queue_is_empty) {
    tables().connection.now("ANALYZE");
    tables().analyze_empty_queue();
    auto cases = cases_of_jobs();
    for (const auto& of : cases_of_queue_limits()) cases.push_back(of);
    // The first runs three times in a lease; no text of the other keeps the planner from sorting.
    std::erase_if(cases, [](const Case& of) {
        return of.sql == &sql::rescue_jobs || of.sql == &sql::pick_partitions;
    });

    for (const auto plan : {Tables::Plan::generic, Tables::Plan::custom}) {
        tables().plan_by(plan);
        for (const auto& of : cases) {
            SCOPED_TRACE(of.sql->name);
            const auto found = tables().run(std::string{of.sql->postgres}, of.values);
            tables().check_plan(of, found);
            tables().check_blocks(of, found);
        }
    }
}

TEST(Plans, the_check_recognizes_a_full_scan) {
    using ::testing::ElementsAre;
    using ::testing::IsEmpty;
    Tables tables;
    tables.connection.now(
        "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) "
        "SELECT 'j', 'q', 'k', '{}', 'ready', now(), now() FROM generate_series(1, 5000); "
        "ANALYZE pawl_jobs"
    );
    auto walks = [&](const std::string& text) { return Walks::of(tables.run(text, {})); };

    EXPECT_THAT(walks("SELECT 1 FROM pawl_jobs WHERE kind = 'other'"), ElementsAre("pawl_jobs"));
    EXPECT_THAT(
        walks("SELECT id FROM pawl_jobs WHERE kind <> 'other' ORDER BY id LIMIT 1"),
        ElementsAre("pawl_jobs_pkey")
    );
    EXPECT_THAT(walks("SELECT id FROM pawl_jobs ORDER BY id LIMIT 1"), IsEmpty());
    EXPECT_THAT(walks("SELECT 1 FROM pawl_jobs WHERE id = 7"), IsEmpty());
    EXPECT_THAT(walks("DELETE FROM pawl_jobs WHERE args = '[]'"), ElementsAre("pawl_jobs"));
}

}  // namespace pawl::plans
