#include "src/http/access_log.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pawl::http {
namespace {

// A file that is removed after the test.
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

TEST(AccessLog, writes_one_json_object_per_line_for_any_content) {
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

// logrotate renames the file and sends SIGHUP (issue 16, number 11).
TEST(AccessLog, after_a_rename_new_lines_are_in_a_new_file_and_none_is_lost) {
    const LogFile file;
    const auto renamed = file.path() + ".1";
    {
        AccessLog log{file.path()};
        log.write({.client = "before", .method = "GET", .route = "/", .status = 200});
        std::filesystem::rename(file.path(), renamed);
        log.write({.client = "between", .method = "GET", .route = "/", .status = 200});

        log.reopen();
        log.write({.client = "after", .method = "GET", .route = "/", .status = 200});
    }

    std::ifstream old{renamed};
    const std::string old_text{std::istreambuf_iterator<char>{old}, {}};
    EXPECT_NE(old_text.find("\"before\""), std::string::npos);
    EXPECT_NE(old_text.find("\"between\""), std::string::npos);
    ASSERT_EQ(file.lines().size(), 1U);
    EXPECT_NE(file.lines()[0].find("\"after\""), std::string::npos);
    std::filesystem::remove(renamed);
}

// A listener's thread was blocked by the disk (issue 16, number 1). A pipe without a reader is such
// a disk.
TEST(AccessLog, a_file_that_blocks_does_not_block_writers) {
    const LogFile file;
    ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
    const int reader = ::open(file.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    std::signal(SIGPIPE, SIG_IGN);  // As servers do.
    const auto began = std::chrono::steady_clock::now();
    {
        AccessLog log{file.path()};
        for (int n = 0; n < 20'000; ++n)  // Some 2 MB; a pipe takes 64 KiB.
            log.write({.client = "::1", .method = "GET", .route = "/", .status = 200});

        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{10});
        ::close(reader);  // Waiting lines are lost, so that the log can end.
    }
}

// It holds who asked for what (issue 16, number 9).
TEST(AccessLog, is_readable_only_by_its_own_user) {
    const LogFile file;
    const AccessLog log{file.path()};

    EXPECT_EQ(
        std::filesystem::status(file.path()).permissions(),
        std::filesystem::perms::owner_read | std::filesystem::perms::owner_write
    );
}

TEST(AccessLog, without_a_file_it_writes_no_lines) {
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
