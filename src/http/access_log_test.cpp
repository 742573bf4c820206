#include "src/http/access_log.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pawl::http {
namespace {

// A file that goes with the test.
class LogFile {
public:
    LogFile()
        : path_{::testing::TempDir() + "access_log_" + std::to_string(::getpid()) + ".jsonl"} {}
    ~LogFile() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }
    std::vector<std::string> lines() const {
        std::ifstream file{path_};
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }

private:
    std::string path_;
};

TEST(AccessLog, writes_one_json_object_a_line_whatever_is_in_it) {
    const LogFile file;
    const std::string nasty = "a\"b\\c\nd\x01\x7f\xC3\xB6";
    {
        AccessLog log{file.path()};
        log.write(
            {.client = "::1",
             .method = "GET",
             .route = nasty,
             .status = 200,
             .bytes = 17,
             .took = std::chrono::microseconds{250},
             .replayed = true}
        );
        log.write({.client = "", .method = nasty, .route = "", .status = 400});
        log.write({.client = "", .method = "", .route = "", .status = 429, .over_quota = "rate"});
    }

    const auto lines = file.lines();
    ASSERT_EQ(lines.size(), 3U);
    const auto first = boost::json::parse(lines[0]).as_object();
    EXPECT_EQ(first.at("route").as_string(), nasty);
    EXPECT_EQ(first.at("client").as_string(), "::1");
    EXPECT_EQ(first.at("status").as_int64(), 200);
    EXPECT_EQ(first.at("bytes").as_int64(), 17);
    EXPECT_EQ(first.at("took_us").as_int64(), 250);
    EXPECT_EQ(first.at("replayed").as_bool(), true);
    const auto second = boost::json::parse(lines[1]).as_object();
    EXPECT_EQ(second.at("method").as_string(), "_OTHER") << "a client may put anything there";
    EXPECT_FALSE(second.contains("replayed"));
    EXPECT_FALSE(second.contains("over_quota"));
    EXPECT_EQ(boost::json::parse(lines[2]).as_object().at("over_quota").as_string(), "rate");
}

TEST(AccessLog, lines_reach_the_file_while_it_is_open) {
    const LogFile file;
    AccessLog log{file.path()};
    log.write({.client = "::1", .method = "GET", .route = "/", .status = 200});

    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (file.lines().empty() && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();

    EXPECT_EQ(file.lines().size(), 1U);
}

TEST(AccessLog, writes_nothing_without_a_file) {
    AccessLog log{""};

    EXPECT_FALSE(log.on());
    log.write({.client = "a", .method = "GET", .route = "/", .status = 200});
}

TEST(AccessLog, names_a_file_that_cannot_be_written) {
    try {
        const AccessLog log{"/proc/no/such/file"};
        FAIL() << "it was opened";
    } catch (const std::runtime_error& failed) {
        EXPECT_NE(std::string{failed.what()}.find("/proc/no/such/file"), std::string::npos);
    }
}

}  // namespace
}  // namespace pawl::http
