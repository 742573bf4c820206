#include "store/doctor.hpp"

#include <pawl/database.hpp>

#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"
#include "tests/postgres/interleaving.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>

// What the doctor reads of a PostgreSQL server: old snapshots, dead rows, and the rights of a role.
namespace pawl::postgres::doctor_test {

namespace {

using conformance::read_rows;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Snapshot {
    std::string what;
    std::int64_t age{};
    std::string detail;
};

struct DeadRows {
    std::string table;
    std::int64_t dead{};
    std::int64_t living{};
};

struct Rights {
    std::string name;
    std::string missing;
};

struct Role {
    std::string name;
    std::int64_t superuser{};
    std::int64_t size{};
};

class DoctorTest : public ::testing::Test {
protected:
    DoctorTest() { Database::open(database.url(), Database::As::migration); }
    ~DoctorTest() override {
        testing::run_sql(database.url(), "DROP OWNED BY doctor_tests; DROP ROLE doctor_tests");
    }
    // One connection: a read returns before its transaction has ended, which the next read would
    // find on another connection.
    std::unique_ptr<Database> open(const std::string& url) {
        return Database::open(url + "?connections=1", Database::As::inspection);
    }
    // The database as another role, which may read all tables.
    std::string url_of_role() {
        auto url = database.url();
        const auto user = url.find("pawl@");
        return url.replace(user, 4, "doctor_tests");
    }
    void SetUp() override {
        testing::run_sql(
            database.url(),
            "CREATE ROLE doctor_tests LOGIN; GRANT USAGE ON SCHEMA public TO doctor_tests; GRANT "
            "SELECT ON ALL TABLES IN SCHEMA public TO doctor_tests"
        );
    }

    testing::PostgresDatabase database;
};

}  // namespace

TEST_F(DoctorTest, an_open_transaction_is_found_by_its_age) {
    const auto opened = open(database.url());
    interleaving::Connection session{database.url()};
    session.now("BEGIN; SELECT count(*) FROM pawl_jobs");

    const auto found = read_rows<Snapshot>(opened->store(), sql::doctor::list_old_snapshots, 0);
    const auto old = read_rows<Snapshot>(opened->store(), sql::doctor::list_old_snapshots, 60);
    session.now("ROLLBACK");

    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].what, "a transaction");
    EXPECT_THAT(found[0].detail, HasSubstr("idle in transaction"));
    EXPECT_THAT(old, IsEmpty());
    EXPECT_THAT(
        read_rows<Snapshot>(opened->store(), sql::doctor::list_old_snapshots, 0), IsEmpty()
    );
}

TEST_F(DoctorTest, a_worker_of_autovacuum_is_no_open_transaction) {
    const auto opened = open(database.url());
    static constexpr Statement<0> workers{
        "workers",
        {},
        "SELECT backend_type, pid::bigint, state FROM pg_stat_activity WHERE datname = "
        "current_database() AND backend_type = 'autovacuum worker' AND xact_start < "
        "clock_timestamp()"};
    const auto at_work = [&] { return read_rows<Snapshot>(opened->store(), workers).size(); };
    // Its ANALYZE calls the index's function for each row.
    testing::run_sql(
        database.url(),
        "CREATE FUNCTION slow(n INTEGER) RETURNS INTEGER IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_sleep(0.02); RETURN n; END $$; CREATE TABLE slow_rows (n INTEGER); CREATE "
        "INDEX ON slow_rows (slow(n)); ALTER TABLE slow_rows SET (autovacuum_analyze_threshold = "
        "1); INSERT INTO slow_rows SELECT generate_series(1, 100)"
    );
    testing::run_sql(database.url(), "ALTER SYSTEM SET autovacuum_naptime = '1s'");
    testing::run_sql(database.url(), "SELECT pg_reload_conf()");
    for (int i = 0; i < 1'200 && at_work() == 0; ++i)
        testing::run_sql(database.url(), "SELECT pg_sleep(0.05)");

    ASSERT_EQ(at_work(), 1U);
    EXPECT_THAT(
        read_rows<Snapshot>(opened->store(), sql::doctor::list_old_snapshots, 0), IsEmpty()
    );
    testing::run_sql(database.url(), "ALTER SYSTEM RESET autovacuum_naptime");
    testing::run_sql(database.url(), "SELECT pg_reload_conf()");
}

TEST_F(DoctorTest, a_table_with_more_dead_rows_than_living_ones_is_found) {
    const auto opened = open(database.url());
    testing::run_sql(
        database.url(),
        "ALTER TABLE pawl_inbox SET (autovacuum_enabled = false); INSERT INTO pawl_inbox SELECT n, "
        "now() FROM generate_series(1, 100) AS n; DELETE FROM pawl_inbox"
    );
    const auto find = [&] {
        return read_rows<DeadRows>(opened->store(), sql::doctor::list_dead_rows, 100);
    };
    // PostgreSQL counts a moment later.
    for (int i = 0; i < 200 && find().empty(); ++i)
        testing::run_sql(database.url(), "SELECT pg_sleep(0.05)");

    ASSERT_EQ(find().size(), 1U);
    EXPECT_EQ(find()[0].table, "pawl_inbox");
    EXPECT_EQ(find()[0].dead, 100);
}

TEST_F(DoctorTest, the_rights_that_a_role_lacks_are_found) {
    const auto opened = open(url_of_role());
    const auto missing = [&] {
        return read_rows<Rights>(opened->store(), sql::doctor::list_missing_rights);
    };

    const auto before = missing();
    testing::run_sql(
        database.url(),
        "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO doctor_tests; GRANT USAGE "
        "ON "
        "ALL SEQUENCES IN SCHEMA public TO doctor_tests"
    );

    ASSERT_GT(before.size(), 20U);
    EXPECT_EQ(before[0].name, "pawl_attention");
    EXPECT_EQ(before[0].missing, "INSERT, UPDATE, DELETE");
    EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(DoctorTest, a_superuser_is_told_from_another_role) {
    const auto role = [&](const std::string& url) {
        return read_rows<Role>(open(url)->store(), sql::doctor::find_role).at(0);
    };

    EXPECT_EQ(role(database.url()).superuser, 1);
    EXPECT_EQ(role(url_of_role()).superuser, 0);
    EXPECT_EQ(role(url_of_role()).name, "doctor_tests");
    EXPECT_GT(role(url_of_role()).size, 1'000'000);
}

}  // namespace pawl::postgres::doctor_test
