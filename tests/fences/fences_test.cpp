// Each condition of each statement refuses what it must refuse: one below, one above, and another
// value of the same kind. And each small edit of a condition is noticed by a case, so that a new
// condition without a case fails here.

#include "payouts/migrations.hpp"
#include "payouts/statements.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"
#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"
#include "tests/fences/call_cases.hpp"
#include "tests/fences/condition_edits.hpp"
#include "tests/fences/exceptions.hpp"
#include "tests/fences/job_cases.hpp"
#include "tests/fences/key_cases.hpp"
#include "tests/fences/lost_file_cases.hpp"
#include "tests/fences/payouts_cases.hpp"
#include "tests/fences/report_cases.hpp"
#include "tests/fences/rides_cases.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::fences {
namespace {

using store::Session;

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (const auto& cases :
         {cases_of_keys(),
          cases_of_calls(),
          cases_of_servers(),
          cases_of_jobs(),
          cases_of_staged_jobs(),
          cases_of_locks(),
          cases_of_rides(),
          cases_of_files(),
          cases_of_lost_files(),
          cases_of_reports()})
        all.insert(all.end(), cases.begin(), cases.end());
    return all;
}

std::vector<const Sql*> all_statements() {
    std::vector<const Sql*> all(sql::all.begin(), sql::all.end());
    all.insert(all.end(), rides::sql::all.begin(), rides::sql::all.end());
    all.insert(all.end(), payouts::sql::all.begin(), payouts::sql::all.end());
    return all;
}

store::Value value_of(const Arg& arg) {
    if (const auto* number = std::get_if<std::int64_t>(&arg)) return *number;
    if (const auto* text = std::get_if<std::string>(&arg)) return std::string_view{*text};
    return {};
}

bool shows(const store::Row& row, const Case::Shown& shown) {
    if (row.is_null(shown.column)) return false;
    if (const auto* number = std::get_if<std::int64_t>(&shown.value))
        return row.integer(shown.column) == *number;
    if (const auto* text = std::get_if<std::string>(&shown.value))
        return row.text(shown.column) == *text;
    return true;
}

struct RollBack {};

// An edit that breaks a constraint, or with which SQLite can't use the index that the statement
// names, fails each test that runs the statement.
bool is_refused_by_the_database(std::string_view error) {
    const std::string_view found[] = {"constraint", "no query solution"};
    return std::any_of(std::begin(found), std::end(found), [&](std::string_view part) {
        return error.find(part) != error.npos;
    });
}

class FencesTest : public ::testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        store::apply_migrations(*store_, "pawl", sql::migrations::all);
        store::apply_migrations(*store_, "rides", rides::sql::migrations::all);
        store::apply_migrations(*store_, "payouts", payouts::sql::migrations::all);
        store::write_now(*store_, [&](Session& session) {
            for (const auto* row : rows_of_pawl) run(session, row);
            for (const auto* row : rows_of_rides) run(session, row);
            for (const auto* row : rows_of_payouts) run(session, with_bytes(row));
        });
    }

    static std::string with_bytes(std::string row) {
        const std::string_view mark{"{bytes}"};
        if (const auto at = row.find(mark); at != row.npos)
            row.replace(at, mark.size(), GetParam() ? "''::bytea" : "x''");
        return row;
    }

    // Sessions keep statements by the address of their text.
    const Sql& interned(const std::string& text) {
        auto& kept = texts_[text];
        kept.first = text;
        kept.second = {"trial", kept.first, kept.first};
        return kept.second;
    }
    void run(Session& session, const std::string& text) {
        session.run(interned(text), {}, [](const store::Row&) {});
    }
    // Whether it changes or finds a row.
    bool finds(
        Session& session, const std::string& text, const Case& of, const std::vector<Arg>& args
    ) {
        std::vector<store::Value> values;
        for (const auto& arg : args) values.push_back(value_of(arg));
        int rows = 0;
        const auto changed = session.run(interned(text), values, [&](const store::Row& row) {
            if (!of.shown || shows(row, *of.shown)) ++rows;
        });
        return rows > 0 || (changed > 0 && !of.shown);
    }

    // Whether the statement does its work on the row, which is as before afterwards.
    bool works(const Case& of, const std::string& text, const Variation* varied) {
        bool worked = false;
        try {
            store::write_now(*store_, [&](Session& session) {
                for (const auto& first : of.with) run(session, first);
                auto args = of.values;
                if (varied != nullptr && varied->column.front() == '$')
                    args.at(std::stoul(varied->column.substr(1)) - 1) = std::stoll(varied->value);
                else if (varied != nullptr)
                    run(session, update(of, *varied));
                worked = finds(session, text, of, args);
                if (!of.observed.empty()) worked = observe(session, of.observed);
                throw RollBack{};
            });
        } catch (const RollBack&) {
        }
        return worked;
    }
    bool observe(Session& session, const std::string& text) {
        bool seen = false;
        session.run(
            interned("SELECT CASE WHEN (" + text + ") THEN 1 ELSE 0 END"),
            {},
            [&](const store::Row& row) { seen = row.integer(0) == 1; }
        );
        return seen;
    }
    static std::string update(const Case& of, const Variation& varied) {
        auto table = of.table;
        auto column = varied.column;
        std::string where;
        if (const auto at = column.find('@'); at != column.npos) {
            where = " WHERE " + column.substr(at + 1);
            column = column.substr(0, at);
        }
        if (const auto dot = column.find('.'); dot != column.npos) {
            table = column.substr(0, dot);
            column = column.substr(dot + 1);
        }
        return "UPDATE " + table + " SET " + column + " = " + varied.value + where;
    }

    static bool runs_here(const Case& of) { return of.on == Case::On::both || !GetParam(); }
    std::string text_of(const Sql& sql) { return std::string{store_->text_of(sql)}; }

    // Whether some variation shows that the edit is not the statement.
    bool is_noticed(const std::vector<const Case*>& cases, const Edit& edit) {
        return std::any_of(cases.begin(), cases.end(), [&](const Case* of) {
            if (!works(*of, edit.text, nullptr)) return true;
            for (const auto& column : of->columns)
                for (const auto& varied : column)
                    if (works(*of, edit.text, &varied) != varied.passes) return true;
            return false;
        });
    }

    std::optional<testing::PostgresDatabase> database_;
    std::unique_ptr<store::Store> store_ = open();

private:
    std::unique_ptr<store::Store> open() {
        if (!GetParam())
            return std::make_unique<sqlite::SqliteStore>(
                sqlite::SqliteOptions{.path = ":memory:"}, base::system_clock()
            );
        database_.emplace();
        return std::make_unique<postgres::PostgresStore>(
            postgres::PostgresOptions{
                .url = database_->url(),
                .connections = 1,
                .prepared = false,
                .database_clock = false},
            base::system_clock(),
            base::system_random()
        );
    }

    std::map<std::string, std::pair<std::string, Sql>> texts_;
};

TEST_P(FencesTest, a_statement_works_on_its_row_and_on_no_other) {
    for (const auto& of : all_cases()) {
        if (!runs_here(of)) continue;
        const auto text = text_of(*of.sql);
        EXPECT_TRUE(works(of, text, nullptr)) << of.sql->name;
        for (const auto& column : of.columns)
            for (const auto& varied : column)
                EXPECT_EQ(works(of, text, &varied), varied.passes)
                    << of.sql->name << ": " << varied.column << " = " << varied.value;
    }
}

TEST_P(FencesTest, a_small_edit_of_a_condition_is_noticed) {
    const auto cases = all_cases();
    for (const auto* statement : all_statements()) {
        std::vector<const Case*> of;
        for (const auto& one : cases)
            if (one.sql == statement && runs_here(one)) of.push_back(&one);
        if (of.empty()) continue;
        for (const auto& edit : condition_edits(text_of(*statement))) {
            if (is_equivalent(statement->name, edit.what, GetParam())) continue;
            const auto what = std::string{statement->name} + ": " + edit.what;
            try {
                EXPECT_TRUE(is_noticed(of, edit)) << "no case notices " << what;
            } catch (const StoreError& error) {
                EXPECT_TRUE(is_refused_by_the_database(error.what()))
                    << what << ": " << error.what();
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Stores, FencesTest, ::testing::Bool(), [](const auto& of) {
    return of.param ? "postgres" : "sqlite";
});

TEST(Fences, an_exception_is_about_something) {
    std::set<std::string_view> names;
    for (const auto* statement : all_statements()) names.insert(statement->name);
    for (const auto& one : statements_without_case)
        EXPECT_TRUE(names.contains(one.statement)) << one.statement;
    for (const auto& one : equivalent_edits) {
        bool used = false;
        for (const auto* statement : all_statements())
            for (const bool postgres : {false, true})
                for (const auto& edit :
                     condition_edits(postgres ? statement->postgres : statement->sqlite))
                    used |= one.holds_for(statement->name, edit.what, postgres);
        EXPECT_TRUE(used) << one.statement << ": " << one.part;
    }
}

TEST(Fences, a_statement_with_conditions_has_a_case_or_a_reason) {
    std::set<const Sql*> with_case;
    for (const auto& of : all_cases()) with_case.insert(of.sql);
    for (const auto* statement : all_statements()) {
        const auto text = statement->sqlite.empty() ? statement->postgres : statement->sqlite;
        if (condition_edits(text).empty()) continue;
        EXPECT_NE(with_case.contains(statement), has_reason(statement->name))
            << statement->name << ": give it a case in tests/fences, or a reason in exceptions.hpp";
    }
}

}  // namespace
}  // namespace pawl::fences
