#include "src/cli/progress.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace pawl::cli {
namespace {

TEST(Progress, a_bar_is_empty_at_the_start_and_full_at_the_end) {
    EXPECT_EQ(progress_bar(0, 700, "retried"), "[..............................] 0 of 700 retried");
    EXPECT_EQ(
        progress_bar(350, 700, "retried"), "[###############...............] 350 of 700 retried"
    );
    EXPECT_EQ(progress_bar(3, 3, "held"), "[##############################] 3 of 3 held");
}

TEST(Progress, a_stream_that_is_no_terminal_gets_a_line_for_each_report) {
    std::ostringstream out;
    {
        Progress progress{out, 150, "held"};
        progress.show(100);
        progress.show(150);
    }

    EXPECT_EQ(out.str(), "100 of 150 held\n150 of 150 held\n");
}

}  // namespace
}  // namespace pawl::cli
