#include <pawl/database.hpp>

#include "src/base/clock.hpp"
#include "src/base/log.hpp"
#include "src/base/random.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>

// What an operator is told of a database that works, but not as Pawl needs it.
namespace pawl::postgres::warnings_test {

namespace {

using namespace conformance;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Sql one = on_all("one", "SELECT 1");

// This process's log, in a file while this object exists.
class LogFile {
public:
    LogFile() { log::open(file_); }
    ~LogFile() { log::open(""); }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    std::string text() const {
        log::flush();
        std::ifstream read{file_};
        return {std::istreambuf_iterator<char>{read}, {}};
    }

private:
    Folder folder_;
    std::string file_ = folder_.file("log");
};

class DurabilityTest : public ::testing::Test {
protected:
    // The warnings when a store is opened.
    std::vector<std::string> warnings_on(const std::string& url) {
        std::vector<std::string> found;
        PostgresStore store{
            {.url = url, .connections = 1},
            base::system_clock(),
            base::system_random(),
            [&](const base::Warning& warning) { found.push_back(warning.detail); }};
        EXPECT_THAT(read_rows<int>(store, one), ElementsAre(1));  // It works.
        return found;
    }
};

}  // namespace

TEST_F(DurabilityTest, a_database_that_keeps_its_commits_gets_no_remark) {
    EXPECT_THAT(warnings_on(testing::durable_cluster_url()), IsEmpty());
}

TEST_F(DurabilityTest, each_transaction_waits_for_its_commit_whatever_the_session_says) {
    constexpr Sql setting{"setting", {}, "SELECT current_setting('synchronous_commit')"};
    const auto in_transaction = [&](const std::string& value) {
        PostgresStore store{
            {.url = testing::durable_cluster_url() + "?options=-csynchronous_commit%3D" + value,
             .connections = 1},
            base::system_clock(),
            base::system_random()};
        return read_rows<std::string>(store, setting).at(0);
    };

    EXPECT_EQ(in_transaction("off"), "on");
    EXPECT_EQ(in_transaction("remote_apply"), "remote_apply");
}

// The tests' server never syncs.
TEST_F(DurabilityTest, each_setting_that_is_off_is_named) {
    const auto found = warnings_on(testing::cluster_url());

    ASSERT_EQ(found.size(), 1);
    EXPECT_THAT(
        found[0], HasSubstr("fsync = off, full_page_writes = off:")
    );
}

TEST_F(DurabilityTest, a_server_logs_it_and_a_tool_does_not) {
    const testing::PostgresDatabase database;
    const LogFile log;

    Database::open(database.url(), Database::As::server);
    const auto of_server = log.text();
    Database::open(database.url(), Database::As::tool);

    EXPECT_THAT(of_server, HasSubstr(R"("level":"warning","event":"database_not_durable")"));
    EXPECT_THAT(of_server, HasSubstr(R"("code":"PAWL0009")"));
    EXPECT_EQ(log.text(), of_server);
}

namespace {

// A role with a limited number of connections.
class ConnectionsTest : public ::testing::Test {
protected:
    ConnectionsTest() {
        testing::run_sql(database.url(), "CREATE ROLE " + role + " LOGIN");
        allow(4);
    }
    ~ConnectionsTest() override { testing::run_sql(database.url(), "DROP ROLE " + role); }
    void allow(int connections) const {
        testing::run_sql(
            database.url(),
            "ALTER ROLE " + role + " CONNECTION LIMIT " + std::to_string(connections)
        );
    }
    base::OnWarning note() {
        return [this](const base::Warning& warning) {
            if (warning.code != "PAWL0010") return;
            const std::lock_guard guard{mutex};
            said.push_back(warning.detail);
            changed.notify_all();
        };
    }
    // The warnings, once there are this many, or after 20 s.
    std::vector<std::string> said_of(std::size_t count) {
        std::unique_lock guard{mutex};
        changed.wait_for(guard, 20s, [&] { return said.size() >= count; });
        return said;
    }

    testing::PostgresDatabase database;
    const std::string role = "few_" + std::to_string(::getpid());
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> said;
};

}  // namespace

TEST_F(ConnectionsTest, a_shortage_of_connections_is_reported_once_and_when_it_changes) {
    PostgresStore store{
        {.url = database.url() + (database.url().find('?') == std::string::npos ? '?' : '&') +
                "user=" + role,
         .connections = 6},
        base::system_clock(),
        base::system_random(),
        note()};

    ASSERT_THAT(said_of(1), ElementsAre(HasSubstr("4 of 6 connections")));
    EXPECT_THAT(said_of(1)[0], HasSubstr("connections=4 in the URL"));
    allow(5);
    EXPECT_THAT(said_of(2), ElementsAre(_, HasSubstr("5 of 6 connections")));
    allow(6);
    EXPECT_THAT(said_of(3), ElementsAre(_, _, HasSubstr("all 6 connections")));
    EXPECT_THAT(read_rows<int>(store, one), ElementsAre(1));
}

}  // namespace pawl::postgres::warnings_test
