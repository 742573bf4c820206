#include "src/core/retry_budget.hpp"

#include <gtest/gtest.h>

namespace pawl::core::retry_budget_test {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime start{1h};
constexpr BudgetRule rule{.each_success = 0.5, .per_s = 2, .burst = 3};

// Withdraws `times` times at one moment; returns the last wait.
std::optional<std::chrono::milliseconds> wait_of_last(
    RetryBudget& budget, int times, SteadyTime now, std::chrono::milliseconds wait_max = 1h
) {
    std::optional<std::chrono::milliseconds> wait;
    for (int i = 0; i < times; ++i) {
        const auto one = withdraw(rule, budget, now, wait_max);
        if (!one) return std::nullopt;
        budget = one->left;
        wait = one->wait;
    }
    return wait;
}

TEST(RetryBudget, lets_a_burst_through_and_then_one_for_each_token) {
    RetryBudget budget;

    EXPECT_EQ(wait_of_last(budget, 3, start), 0ms);
    EXPECT_EQ(wait_of_last(budget, 1, start), 500ms);
    EXPECT_EQ(wait_of_last(budget, 1, start), 1s);  // After the previous one.
    EXPECT_EQ(wait_of_last(budget, 1, start + 1s), 500ms);
}

TEST(RetryBudget, a_wait_that_is_too_long_takes_no_token) {
    RetryBudget budget;
    wait_of_last(budget, 3, start);

    EXPECT_EQ(withdraw(rule, budget, start, 499ms).has_value(), false);
    EXPECT_EQ(wait_of_last(budget, 1, start, 500ms), 500ms);
}

TEST(RetryBudget, a_success_adds_its_part_up_to_a_full_bucket) {
    RetryBudget budget;
    wait_of_last(budget, 4, start);

    for (int i = 0; i < 2; ++i) budget = after_success(rule, budget, start);
    EXPECT_EQ(wait_of_last(budget, 1, start), 500ms);  // Two halves are one.

    for (int i = 0; i < 100; ++i) budget = after_success(rule, budget, start);
    EXPECT_EQ(wait_of_last(budget, 3, start), 0ms);
    EXPECT_EQ(wait_of_last(budget, 1, start), 500ms);
}

TEST(RetryBudget, is_full_again_after_a_pause) {
    RetryBudget budget;
    wait_of_last(budget, 3, start);

    EXPECT_EQ(wait_of_last(budget, 3, start + 1500ms), 0ms);
}

TEST(BudgetRule, names_an_option_out_of_its_limits) {
    EXPECT_EQ(BudgetRule{}.problem(), std::nullopt);
    EXPECT_EQ(BudgetRule{.each_success = -1}.problem(), "each_success is -1.000000: 0 to 10");
    EXPECT_EQ(BudgetRule{.per_s = 0}.problem(), "per_s is 0.000000: 0.001 to 1000000");
    EXPECT_EQ(BudgetRule{.burst = 0}.problem(), "burst is 0: 1 to 1000000");
}

}  // namespace
}  // namespace pawl::core::retry_budget_test
