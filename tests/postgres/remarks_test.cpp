#include <pawl/database.hpp>

#include "src/engine/clock.hpp"
#include "src/engine/log.hpp"
#include "src/engine/random.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

// What an operator is told of a database that serves, and yet is not as Pawl needs it.
namespace pawl::postgres {

namespace {

using namespace conformance;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Sql one = on_all("one", "SELECT 1");

// The log of this process, in a file for as long as this stands.
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
    // What is remarked when a store is opened.
    std::vector<std::string> remarks_on(const std::string& url) {
        std::vector<std::string> found;
        PostgresStore store{
            {.url = url, .connections = 1},
            engine::system_clock(),
            engine::system_random(),
            [&](const Remark& remark) { found.push_back(remark.detail); }};
        EXPECT_THAT(read_rows<int>(store, one), ElementsAre(1));  // It serves.
        return found;
    }
};

}  // namespace

TEST_F(DurabilityTest, a_database_that_keeps_its_commits_is_not_remarked_on) {
    EXPECT_THAT(remarks_on(testing::durable_cluster_url()), IsEmpty());
}

TEST_F(DurabilityTest, synchronous_commit_that_is_off_for_the_session_is_remarked_on) {
    const auto found =
        remarks_on(testing::durable_cluster_url() + "?options=-csynchronous_commit%3Doff");

    ASSERT_EQ(found.size(), 1);
    EXPECT_THAT(found[0], HasSubstr("says synchronous_commit = off:"));
    EXPECT_THAT(found[0], HasSubstr("Set it to on"));
}

// The tests' server syncs nothing.
TEST_F(DurabilityTest, each_setting_that_is_off_is_named) {
    const auto found = remarks_on(testing::cluster_url());

    ASSERT_EQ(found.size(), 1);
    EXPECT_THAT(
        found[0], HasSubstr("synchronous_commit = off, fsync = off, full_page_writes = off:")
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

}  // namespace pawl::postgres
