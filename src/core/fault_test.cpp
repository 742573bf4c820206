#include "src/core/fault.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl::core::fault_test {
namespace {

// The environment is read once for each process, so each of these runs in its own process.
class FaultDeathTest : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    static void plan(const char* text) { ::setenv("PAWL_FAULT_AT", text, 1); }
    // Code 0 means "it did not stop here".
    [[noreturn]] static void end(int code) { ::_exit(code); }
};

TEST_F(FaultDeathTest, kills_at_the_planned_hit_of_the_planned_point_and_not_before) {
    EXPECT_EXIT(
        {
            plan("engine.keep.before:3:kill9");
            fault_point("engine.keep.before");
            fault_point("engine.keep.after");
            fault_point("engine.keep.before");
            std::fputs("twice\n", stderr);
            fault_point("engine.keep.before");
            end(0);
        },
        ::testing::KilledBySignal(SIGKILL),
        "twice"
    );
}

TEST_F(FaultDeathTest, an_incomplete_plan_is_ignored) {
    for (const char* text : {"", "a", "a:1", "a:kill9", "a:0:kill9", ":1:kill9", "a:1:abort"})
        EXPECT_EXIT(
            {
                plan(text);
                fault_point("a");
                fault_point("a");
                end(7);
            },
            ::testing::ExitedWithCode(7),
            ""
        ) << text;
}

TEST_F(FaultDeathTest, logs_each_point_as_it_is_reached) {
    // Set here for the process of the test below, which does not set it again.
    const auto name = ::testing::TempDir() + "pawl_fault_log_" + std::to_string(::getpid());
    ::setenv("PAWL_FAULT_LOG", name.c_str(), 0);
    const std::string file = std::getenv("PAWL_FAULT_LOG");
    EXPECT_EXIT(
        {
            fault_point("a");
            fault_point("b");
            fault_point("a");
            end(7);
        },
        ::testing::ExitedWithCode(7),
        ""
    );
    ::unsetenv("PAWL_FAULT_LOG");

    std::vector<std::string> lines;
    std::ifstream log{file};
    for (std::string line; std::getline(log, line);) lines.push_back(line);
    ::unlink(file.c_str());
    EXPECT_EQ(lines, (std::vector<std::string>{"a", "b", "a"}));
}

TEST(OnFaultPoint, reports_the_points_until_it_is_removed) {
    std::vector<std::string> seen;

    on_fault_point([&](std::string_view name) { seen.emplace_back(name); });
    fault_point("a");
    fault_point("b");
    on_fault_point(nullptr);
    fault_point("c");

    EXPECT_EQ(seen, (std::vector<std::string>{"a", "b"}));
}

TEST(OnFaultPoint, its_exception_leaves_the_point) {
    on_fault_point([](std::string_view) { throw std::runtime_error{"planted"}; });
    EXPECT_THROW(fault_point("a"), std::runtime_error);
    on_fault_point(nullptr);
}

}  // namespace
}  // namespace pawl::core::fault_test
