// Servers of the previous release go on with their statements on tables that the present migrations
// have changed (docs/design.md, part 5: expand, then contract).

#include "rides/migrations.hpp"
#include "rides/statements.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/golden/release.hpp"

#include <gmock/gmock.h>

namespace pawl::golden {
namespace {

using conformance::name_of;
using conformance::Stores;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

const fs::path kept{PAWL_GOLDEN};

std::vector<fs::path> releases() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator{kept})
        if (entry.is_directory()) found.push_back(entry.path());
    return found;
}

// Runs on the tables of the present migrations.
class GoldenTest : public conformance::OnEachStore {
protected:
    GoldenTest() { make_tables(); }

    void make_tables() {
        store::apply_migrations(*store, "pawl", sql::migrations::all);
        store::apply_migrations(*store, "rides", rides::sql::migrations::all);
    }
    void start_anew() {
        store.reset();
        database.reset();
        for (const auto* rest : {"", "-wal", "-shm"}) fs::remove(folder.file("test.db") + rest);
        store = open();
        make_tables();
    }

    void migrate(std::string_view sqlite, std::string_view postgres) {
        conformance::write_now(*store, [&](Session& session) {
            session.run_script({"later_migration", sqlite, postgres});
            return 0;
        });
    }
    void migrate(std::string_view both) { migrate(both, both); }

    // The statements of the oldest release that fail after such a migration.
    std::vector<std::string> unprepared() { return Trial{*store, oldest()}.prepare_all(); }
    std::vector<std::string> failed() { return Trial{*store, oldest()}.run_flow(); }

    const Release& oldest() {
        if (!oldest_) {
            auto all = releases();
            oldest_.emplace(*std::min_element(all.begin(), all.end()));
        }
        return *oldest_;
    }

    std::optional<Release> oldest_;
};
PAWL_ON_EACH_STORE(GoldenTest);

}  // namespace

TEST_P(GoldenTest, every_statement_of_an_older_server_is_understood) {
    ASSERT_THAT(releases(), ::testing::Not(IsEmpty()));

    for (const auto& path : releases()) {
        const Release release{path};

        EXPECT_GE(release.statements().size(), 60U) << path;
        EXPECT_THAT((Trial{*store, release}.prepare_all()), IsEmpty()) << path;
    }
}

TEST_P(GoldenTest, the_work_of_an_older_server_has_the_same_results) {
    for (const auto& path : releases()) {
        const Release release{path};
        start_anew();
        EXPECT_THAT((Trial{*store, release}.run_flow()), IsEmpty()) << path;
    }
}

TEST_P(GoldenTest, the_present_flow_runs_the_present_statements_and_leaves_none_out) {
    const Release present{sql::all, rides::sql::all, kept / "flow.json"};
    Trial trial{*store, present};

    EXPECT_THAT(trial.run_flow(), IsEmpty());

    // Statements that apply migrations have run before.
    const std::set<std::string> elsewhere{
        "create_migrations",
        "find_migrations_table",
        "insert_migration",
        "list_migrations",
        "lock_migrations"};
    for (const auto& [name, ignored] : present.statements())
        EXPECT_TRUE(trial.ran().contains(name) || elsewhere.contains(name)) << name;
}

// Each of these migrations must wait until no older server runs; the test must detect it.

TEST_P(GoldenTest, a_new_column_that_must_be_filled_fails_it) {
    migrate(
        "ALTER TABLE pawl_idempotency_keys ADD COLUMN region TEXT CHECK (region IS NOT NULL)",
        "ALTER TABLE pawl_idempotency_keys ADD COLUMN region TEXT NOT NULL"
    );

    EXPECT_THAT(failed(), Contains(HasSubstr("insert_key")));
}

TEST_P(GoldenTest, a_new_column_that_may_be_empty_does_not) {
    migrate("ALTER TABLE pawl_idempotency_keys ADD COLUMN region TEXT");
    migrate("ALTER TABLE pawl_jobs ADD COLUMN weight INTEGER NOT NULL DEFAULT 0");

    EXPECT_THAT(unprepared(), IsEmpty());
    EXPECT_THAT(failed(), IsEmpty());
}

TEST_P(GoldenTest, a_dropped_column_fails_it) {
    migrate("ALTER TABLE pawl_idempotency_keys DROP COLUMN origin");

    EXPECT_THAT(unprepared(), Contains(HasSubstr("insert_key")));
    EXPECT_THAT(failed(), ::testing::Not(IsEmpty()));
}

TEST_P(GoldenTest, a_renamed_column_fails_it) {
    migrate("ALTER TABLE pawl_jobs RENAME COLUMN run_at TO due_at");

    EXPECT_THAT(unprepared(), Contains(HasSubstr("claim_jobs")));
}

TEST_P(GoldenTest, a_constraint_that_an_older_server_breaks_fails_it) {
    migrate("CREATE UNIQUE INDEX one_key_an_account ON pawl_idempotency_keys (tenant, account)");

    EXPECT_THAT(unprepared(), IsEmpty());
    EXPECT_THAT(failed(), Contains(HasSubstr("insert_key_finished")));
}

}  // namespace pawl::golden
