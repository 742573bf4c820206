#include <pawl/http.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace pawl {
namespace {

// The signal is pending before the first thread starts, like one that comes while the process
// starts.
[[noreturn]] void serve_until(std::initializer_list<int> signals) {
    block_end_signals();
    for (const int signal : signals) ::kill(::getpid(), signal);
    int status = 0;
    {
        const auto database = Database::open("memory:");
        Service service{*database};
        HttpServer server{service, {.listen = "127.0.0.1:0", .anonymous = true, .threads = 1}};
        status = run_until_signal(service, server);
    }
    std::exit(status);
}

TEST(RunUntilSignalDeathTest, either_signal_ends_a_server_in_order) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";

    EXPECT_EXIT(serve_until({SIGTERM}), ::testing::ExitedWithCode(0), "\"stopped\"");
    EXPECT_EXIT(serve_until({SIGINT}), ::testing::ExitedWithCode(0), "\"stopped\"");
}

// Before, a hangup ended the server (issue 16, number 11).
TEST(RunUntilSignalDeathTest, a_hangup_reopens_the_logs_and_does_not_end_the_server) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";

    EXPECT_EXIT(
        serve_until({SIGHUP, SIGTERM}),
        ::testing::ExitedWithCode(0),
        "\"started\"(.|\n)*\"logs_reopened\"(.|\n)*\"signal\":15(.|\n)*\"stopped\""
    );
}

}  // namespace
}  // namespace pawl
