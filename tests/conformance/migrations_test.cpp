#include "tests/conformance/key_world.hpp"

#include <array>

// Migrations, and what the database records about itself.
namespace pawl::conformance {

namespace {

using store::apply_migrations;

class MigrationsTest : public KeyTest {
protected:
    std::vector<std::string> apply(std::vector<const Sql*> migrations) {
        return apply_migrations(*store, "shop", migrations);
    }
    std::int64_t tables(const std::string& name) {
        static constexpr Statement<1> count{
            "count_tables",
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = $1",
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = "
            "$1"};
        return read_rows<std::int64_t>(*store, count, name).at(0);
    }
};
PAWL_ON_EACH_STORE(MigrationsTest);

constexpr Sql first = on_all("migration_0001_first", "CREATE TABLE shop (a INTEGER);");
constexpr Sql second = on_all(
    "migration_0002_second", "ALTER TABLE shop ADD COLUMN b TEXT; CREATE TABLE more (a INTEGER);"
);
constexpr Sql broken = on_all(
    "migration_0003_broken", "CREATE TABLE half (a INTEGER); ALTER TABLE nowhere ADD COLUMN b;"
);
constexpr Sql contracting = on_all(
    "migration_0003_drop_a", "-- Nobody reads it any more.\n-- needs 0002_second\nDROP TABLE more;"
);

using Names = std::vector<std::string>;

}  // namespace

TEST_P(MigrationsTest, each_runs_once_and_in_order) {
    EXPECT_EQ(apply({&first}), (Names{"migration_0001_first"}));
    EXPECT_EQ(apply({&first, &second}), (Names{"migration_0002_second"}));
    EXPECT_EQ(apply({&first, &second}), Names{});

    EXPECT_EQ(tables("more"), 1);
}

// SQLite checks the existing rows by a PRAGMA of its own.
TEST_P(MigrationsTest, a_new_column_may_have_a_check) {
    static constexpr Sql checked = on_all(
        "migration_0002_checked", "ALTER TABLE shop ADD COLUMN b INTEGER DEFAULT 0 CHECK (b >= 0)"
    );

    EXPECT_EQ(apply({&first, &checked}), (Names{"migration_0001_first", "migration_0002_checked"}));
}

TEST_P(MigrationsTest, our_own_migrations_run_once) {
    open_key("hash");

    EXPECT_EQ(apply_migrations(*store, "pawl", sql::migrations::all), Names{});

    EXPECT_FALSE(register_key("hash")) << "what was in the database is still there";
}

TEST_P(MigrationsTest, a_failing_migration_leaves_nothing_and_runs_when_fixed) {
    EXPECT_THROW(apply({&first, &broken}), StoreError);

    EXPECT_EQ(tables("half"), 0);
    EXPECT_EQ(tables("shop"), 0) << "all of a start, or nothing";
    constexpr Sql fixed = on_all("migration_0003_broken", "CREATE TABLE half (a INTEGER);");
    EXPECT_EQ(apply({&first, &fixed}).size(), 2);
    EXPECT_EQ(tables("half"), 1);
}

TEST_P(MigrationsTest, two_owners_may_use_the_same_name) {
    constexpr Sql theirs = on_all("migration_0001_first", "CREATE TABLE theirs (a INTEGER);");
    apply({&first});

    EXPECT_EQ(apply_migrations(*store, "other", std::array{&theirs}).size(), 1);

    EXPECT_EQ(tables("theirs"), 1);
}

TEST_P(MigrationsTest, an_older_binary_goes_on_beside_a_migration_that_only_expands) {
    apply({&first, &second});

    EXPECT_EQ(apply({&first}), Names{});
}

TEST_P(MigrationsTest, a_binary_that_lacks_what_a_contracting_migration_needs_is_refused) {
    apply({&first, &second, &contracting});

    const auto error = error_of([&] { apply({&first}); });

    EXPECT_NE(std::string{error.what()}.find("PAWL0003"), std::string::npos) << error.what();
    EXPECT_NE(std::string{error.what()}.find("migration_0003_drop_a"), std::string::npos);
    EXPECT_EQ(apply({&first, &second}), Names{}) << "the release before knows what it needs";
    EXPECT_EQ(apply_migrations(*store, "pawl", sql::migrations::all), Names{});
}

TEST_P(MigrationsTest, an_index_over_a_large_table_may_take_longer_than_a_phase) {
    // Ten thousand steps of SQLite between two readings of the clock: far more than five seconds'
    // worth.
    constexpr Sql slow{
        "migration_0001_slow",
        "CREATE TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "LIMIT 20000) "
        "SELECT i FROM n;",
        "CREATE TABLE numbers AS SELECT i FROM generate_series(1, 20000) AS n(i);"};
    clock.tick(1s);

    EXPECT_EQ(apply({&slow}).size(), 1);

    EXPECT_GT(clock.steady().time_since_epoch(), 1000s + 6s) << "it was slow";
}

TEST_P(MigrationsTest, applied_migrations_are_listed_with_their_time) {
    struct Applied {
        std::string owner;
        std::string name;
        TimePoint at;
    };
    clock.advance(1s);
    apply({&first});

    const auto listed = read_rows<Applied>(*store, sql::list_migrations);

    ASSERT_EQ(listed.size(), sql::migrations::all.size() + 1);
    EXPECT_EQ(listed.back().owner, "shop");
    EXPECT_EQ(listed.back().name, "migration_0001_first");
    EXPECT_EQ(listed.back().at, now());
}

TEST_P(MigrationsTest, our_tables_are_found) {
    EXPECT_EQ(read_rows<std::string>(*store, sql::find_tables), Names{"pawl_key_registry"});
}

TEST_P(MigrationsTest, the_installation_is_named_once) {
    EXPECT_TRUE(read_rows<std::string>(*store, sql::find_installation).empty());

    EXPECT_EQ(run(sql::insert_installation, "first name", now()), 1);
    EXPECT_EQ(run(sql::insert_installation, "second name", now()), 0);

    EXPECT_EQ(read_rows<std::string>(*store, sql::find_installation), Names{"first name"});
}

TEST_P(MigrationsTest, secrets_are_found_newest_first_and_none_is_overwritten) {
    struct Secret {
        int version;
        std::string secret;
    };

    EXPECT_EQ(run(sql::insert_secret, 1, "aa", now()), 1);
    EXPECT_EQ(run(sql::insert_secret, 2, "bb", now()), 1);
    EXPECT_EQ(run(sql::insert_secret, 1, "cc", now()), 0);

    const auto secrets = read_rows<Secret>(*store, sql::find_secrets);
    ASSERT_EQ(secrets.size(), 2);
    EXPECT_EQ(secrets[0].version, 2);
    EXPECT_EQ(secrets[1].secret, "aa");

    EXPECT_EQ(run(sql::delete_secret, 1), 1);
    EXPECT_EQ(run(sql::insert_secret_verifier, 1, "v1", now()), 1);
    EXPECT_EQ(run(sql::insert_secret_verifier, 1, "v2", now()), 0);
    EXPECT_EQ(read_rows<Secret>(*store, sql::find_secrets).size(), 1U);
    const auto verifiers = read_rows<Secret>(*store, sql::find_secret_verifiers);
    ASSERT_EQ(verifiers.size(), 1U);
    EXPECT_EQ(verifiers[0].secret, "v1");
}

TEST_P(MigrationsTest, operators_actions_are_recorded) {
    constexpr Sql actions =
        on_all("actions", "SELECT actor || ' ' || action || ' ' || detail FROM pawl_audit_log");

    EXPECT_EQ(run(sql::insert_audit, now(), "jane", "settled", 7, "seen"), 1);

    EXPECT_EQ(read_rows<std::string>(*store, actions), Names{"jane settled seen"});
}

TEST_P(MigrationsTest, times_are_texts_of_one_width_so_that_a_person_can_read_and_sort_them) {
    constexpr Sql created = on_all("created", "SELECT created_at FROM pawl_idempotency_keys");
    open_key("hash");

    EXPECT_EQ(read_rows<std::string>(*store, created).at(0), "2027-01-15T08:00:00.000Z");
}

}  // namespace pawl::conformance
