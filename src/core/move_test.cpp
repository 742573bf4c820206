#include "src/core/move.hpp"

#include <gtest/gtest.h>

namespace pawl::core::move_test {
namespace {

// A flow of three steps: 0, 1, 2, and 3 for finished.
TEST(CheckMove, lets_a_key_go_forward_over_any_distance_up_to_the_end) {
    for (std::size_t from = 0; from < 3; ++from)
        for (std::size_t to = from + 1; to <= 3; ++to) check_move(from, to, 3);
}

TEST(CheckMoveDeathTest, ends_the_process_where_a_key_would_stay_or_go_back) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(check_move(1, 1, 3), "from < to");
    EXPECT_DEATH(check_move(2, 1, 3), "from < to");
}

TEST(
    CheckMoveDeathTest, ends_the_process_where_a_finished_key_would_move_or_one_would_pass_the_end
) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(check_move(3, 4, 3), "from < finished");
    EXPECT_DEATH(check_move(2, 4, 3), "to <= finished");
}

}  // namespace
}  // namespace pawl::core::move_test
