#include <pawl/database.hpp>

#include "src/base/clock.hpp"
#include "src/store/store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

// How many connections an operator's command takes from a shared database.
namespace pawl::postgres::commands_test {

namespace {

using namespace conformance;
using As = Database::As;

constexpr Sql sessions = on_all(
    "sessions",
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
    "application_name = 'pawl'"
);

class CommandsTest : public ::testing::Test {
protected:
    CommandsTest() { Database::open(database.url(), As::migration); }

    // When no more have come for half a second: each is opened by its own thread.
    std::int64_t connections_as(As as, const std::string& parameters = "") const {
        // Sessions that were closed may still be ending.
        testing::run_sql(
            database.url(),
            "SET statement_timeout = '20s'; DO $$ BEGIN WHILE EXISTS (SELECT FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'pawl') LOOP "
            "PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $$"
        );
        const auto opened = Database::open(database.url() + parameters, as);
        std::int64_t most = 0;
        for (int quiet = 0; quiet < 10; ++quiet) {
            std::this_thread::sleep_for(50ms);
            const auto found = read_rows<std::int64_t>(opened->store(), sessions).at(0);
            if (found <= most) continue;
            most = found;
            quiet = 0;
        }
        return most;
    }

    testing::PostgresDatabase database;
};

}  // namespace

TEST_F(CommandsTest, a_command_takes_two_connections) {
    EXPECT_EQ(connections_as(As::tool), 2);
    EXPECT_EQ(connections_as(As::migration), 2);
}

TEST_F(CommandsTest, a_server_takes_sixteen) {
    EXPECT_EQ(connections_as(As::server), 16);
}

TEST_F(CommandsTest, the_url_overrides_the_number_of_connections) {
    EXPECT_EQ(connections_as(As::tool, "?connections=1"), 1);
    EXPECT_EQ(connections_as(As::tool, "?connections=5"), 5);
    EXPECT_EQ(connections_as(As::server, "?connections=5"), 5);
}

}  // namespace pawl::postgres::commands_test
