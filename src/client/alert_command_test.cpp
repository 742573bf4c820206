#include "src/client/alert_command.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace pawl::client {
namespace {

using namespace std::chrono_literals;

TEST(AlertCommand, gets_the_line_on_its_standard_input_and_never_as_a_part_of_the_command) {
    const auto file = ::testing::TempDir() + "alert_" + std::to_string(::getpid());
    const std::string line = R"({"detail":"$(touch /tmp/injected); `id` '\""})";

    EXPECT_EQ(run_command("cat > " + file, line, 10s), std::nullopt);

    std::ifstream written{file};
    const std::string text{std::istreambuf_iterator<char>{written}, {}};
    EXPECT_EQ(text, line + "\n");
    std::filesystem::remove(file);
}

TEST(AlertCommand, a_failure_is_reported) {
    EXPECT_EQ(run_command("exit 7", "{}", 10s), "it ended with 7");
    EXPECT_EQ(run_command("kill -9 $$", "{}", 10s), "signal 9 ended it");
    EXPECT_EQ(run_command("no-such-command-of-pawl 2> /dev/null", "{}", 10s), "it ended with 127");
}

TEST(AlertCommand, one_that_hangs_is_ended_with_its_children) {
    const auto began = std::chrono::steady_clock::now();

    EXPECT_EQ(run_command("sleep 60 & sleep 60", "{}", 100ms), "it took longer than 100 ms");
    EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
}

TEST(AlertCommand, one_that_reads_nothing_holds_nobody_up) {
    EXPECT_EQ(run_command("true", std::string(60'000, 'a'), 10s), std::nullopt);
    EXPECT_TRUE(run_command("cat > /dev/null", std::string(100'000, 'a'), 10s)) << "above a pipe";
}

}  // namespace
}  // namespace pawl::client
