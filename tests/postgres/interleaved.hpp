#pragma once

#include "store/migrations.hpp"
#include "tests/postgres/cluster.hpp"
#include "tests/postgres/engine_steps.hpp"
#include "tests/postgres/interleaving.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Two sessions over a database with one key, 'h', at one isolation level: the start, every order,
// and the invariants at the end.
namespace pawl::interleaving {

inline std::string isolation_name(const ::testing::TestParamInfo<const char*>& of_test) {
    std::string name{of_test.param};
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

class Interleaved : public ::testing::TestWithParam<const char*> {
protected:
    static void SetUpTestSuite() { database = std::make_unique<pawl::testing::PostgresDatabase>(); }
    static void TearDownTestSuite() { database.reset(); }
    Interleaved() {
        both_.monitor.now("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        for (const auto* migration : sql::migrations::all)
            both_.monitor.now(std::string{migration->postgres});
        both_.monitor.now(
            "CREATE TABLE accounts (id INTEGER PRIMARY KEY, cents INTEGER);"
            "INSERT INTO accounts VALUES (1, 0);"
            "CREATE TABLE writes (session TEXT)"
        );
    }
    void TearDown() override {
        std::printf("%d orders, %d waits\n", orders_, waits_);
        RecordProperty("orders", orders_);
    }
    static bool is_read_committed() { return std::string_view{GetParam()} == "READ COMMITTED"; }

    // --- What stands before ---

    static std::string open_key(const std::string& lease) {
        return "WITH made AS (INSERT INTO pawl_key_registry (hash) VALUES ('h') RETURNING id) "
               "INSERT INTO pawl_idempotency_keys SELECT id, 'h', 't', 'a', 'k', 'book_ride', "
               "'POST', "
               "'/rides', '::1', 'f', 1, '{}', 'open', 1, '" +
               lease + "', 'ride_created', '{}', 0, 'c', '" + now +
               "', NULL, false, NULL, NULL, NULL, NULL, '" + now + "', '" + now + "' FROM made;";
    }
    static std::string finished_key() {
        return open_key(lease_over) +
               "UPDATE pawl_idempotency_keys SET status = 'finished', lease_until = NULL, "
               "recovery_point = 'finished', response_status = 201, response_body = 'old', "
               "expires_at = '" +
               lease_over + "';";
    }
    static std::string expired_key() {
        return std::string{
                   "INSERT INTO pawl_key_registry (hash, state, expired_at) VALUES ('h', "} +
               "'expired', '" + lease_over + "');";
    }
    void prepare(const std::string& before) {
        const auto told = both_.monitor.now(
            before_all_ +
            "DELETE FROM writes; DELETE FROM pawl_idempotency_keys; DELETE FROM pawl_key_registry;"
            "UPDATE accounts SET cents = 0;" +
            before + "SELECT (SELECT id FROM pawl_key_registry WHERE hash = 'h')"
        );
        engine_.key = told.rows[0][0];
    }

    // --- What must stand behind ---

    struct Row {
        Text id, state, generation, outcome, key_id, status, attempt, lease, point, body;
    };
    void read_rows() {
        rows_.clear();
        writes_.clear();
        const auto keys = both_.monitor.now(
            "SELECT r.id, r.state, r.generation, r.outcome, k.id, k.status, k.attempt, "
            "k.lease_until,"
            " k.recovery_point, k.response_body FROM pawl_key_registry AS r"
            " FULL JOIN pawl_idempotency_keys AS k ON k.id = r.id"
            " WHERE coalesce(r.hash, k.hash) = 'h'"
        );
        for (const auto& r : keys.rows)
            rows_.push_back({r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9]});
        row_ = rows_.empty() ? Row{} : rows_[0];
        for (const auto& r : both_.monitor.now("SELECT session FROM writes ORDER BY session").rows)
            writes_.push_back(*r[0]);
        cents_ = *both_.monitor.now("SELECT cents FROM accounts").rows[0][0];
    }
    // At most one registry row; the key's own row exists exactly while that one is live; an
    // application's write exists exactly if its transaction got COMMIT.
    void check_what_stands() {
        read_rows();
        EXPECT_LE(rows_.size(), 1);
        std::vector<std::string> committed;
        for (const auto* s : {&both_.first, &both_.second}) {
            for (const auto& [write, commit] :
                 {std::pair{"write", "commit"}, std::pair{"write_kept", "commit_kept"}})
                if (s->told(write) != nullptr && s->committed(commit))
                    committed.push_back(s->name());
            const bool kept = s->committed("commit") || s->committed("commit_kept");
            if (s->told("neighbour") != nullptr && kept)
                committed.push_back(s->name() + "'s neighbour");
            EXPECT_NE(found_by(*s, "look").as, As::torn);
            EXPECT_NE(found_by(*s, "find_key").as, As::torn);
        }
        EXPECT_EQ(writes_, committed);
        EXPECT_EQ(cents_, std::to_string(engine_.shared ? committed.size() : 0));
        for (const auto& row : rows_) {
            EXPECT_EQ(row.state == "live", row.key_id.has_value());
            EXPECT_FALSE(row.status == "finished" && row.lease);
        }
    }
    const Session& winner() { return won(both_.first) ? both_.first : both_.second; }
    const Session& loser() { return won(both_.first) ? both_.second : both_.first; }
    // Exactly one of the two, or the only one that claims, has the key, with this attempt.
    void check_winner(const std::string& attempt) {
        EXPECT_NE(won(both_.first), won(both_.second));
        EXPECT_EQ(row_.status, "open");
        EXPECT_EQ(row_.attempt, attempt);
        EXPECT_EQ(row_.lease, lease_of(winner()));
    }
    void check_told(bool was_run_again) {
        std::set<std::string> allowed{"", "22012"};
        allowed.insert(may_end_with_.begin(), may_end_with_.end());
        if (engine_.patient || (engine_.shares && !was_run_again)) allowed.insert("55P03");
        if (!was_run_again && engine_.shared) allowed.insert("40P01");
        if (!was_run_again && !is_read_committed()) allowed.insert("40001");
        for (const auto* s : {&both_.first, &both_.second}) {
            EXPECT_EQ(allowed.count(s->state()), 1) << s->name() << ": " << s->state();
            ends_.insert(s->state());
        }
    }
    void explore(
        const std::string& before,
        const Steps& first,
        const Steps& second,
        const std::function<void()>& check
    ) {
        Interleavings::Turns turns;
        do {
            both_.run(turns, [&] {
                prepare(before);
                both_.first.start(first, engine_.shares);
                both_.second.start(second, engine_.shares);
            });
            const ::testing::ScopedTrace trace{__FILE__, __LINE__, both_.order()};
            check_told(false);
            check_what_stands();
            both_.run_again();
            check_told(true);
            check_what_stands();
            check();
            ++orders_;
        } while (!HasFailure() && Interleavings::step_on(turns));
        waits_ = both_.waits();
    }

    static inline std::unique_ptr<pawl::testing::PostgresDatabase> database;
    Interleavings both_{database->url()};
    // The sessions' own writes, without their neighbours'.
    std::vector<std::string> own_writes() const {
        std::vector<std::string> own;
        for (const auto& write : writes_)
            if (write.find("neighbour") == write.npos) own.push_back(write);
        return own;
    }

    EngineSteps engine_{.isolation = GetParam()};
    std::vector<Row> rows_;
    Row row_;  // The first.
    std::vector<std::string> writes_;
    std::string cents_;
    std::set<std::string> ends_;
    std::set<std::string> may_end_with_;  // Besides the results of a lost race.
    std::string before_all_;              // SQL that empties other tables.
    int orders_{0};
    int waits_{0};
};

}  // namespace pawl::interleaving
