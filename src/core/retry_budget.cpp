#include "src/core/retry_budget.hpp"

#include <algorithm>
#include <cmath>

namespace pawl::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The time in which one token is added.
nanoseconds token_of(const BudgetRule& rule) {
    return nanoseconds{std::llround(std::ceil(1e9 / rule.per_s))};
}

}  // namespace

std::optional<TakenToken> withdraw(
    const BudgetRule& rule, const RetryBudget& budget, SteadyTime now, milliseconds wait_max
) noexcept {
    const auto token = token_of(rule);
    const auto full_at = std::max(budget.full_at, now) + token;
    const auto late = full_at - now - token * rule.burst;
    const auto wait = std::max(std::chrono::ceil<milliseconds>(late), milliseconds{0});
    if (wait > wait_max) return std::nullopt;
    return TakenToken{{full_at}, wait};
}

RetryBudget after_success(
    const BudgetRule& rule, const RetryBudget& budget, SteadyTime now
) noexcept {
    if (budget.full_at <= now) return {};
    const std::chrono::duration<double, std::nano> earned =
        std::chrono::duration<double, std::nano>{token_of(rule)} * rule.each_success;
    return {budget.full_at - nanoseconds{std::llround(earned.count())}};
}

std::optional<std::string> BudgetRule::problem() const {
    if (!(each_success >= 0 && each_success <= 10))
        return "each_success is " + std::to_string(each_success) + ": 0 to 10";
    if (!(per_s >= 0.001 && per_s <= 1e6))
        return "per_s is " + std::to_string(per_s) + ": 0.001 to 1000000";
    if (burst < 1 || burst > 1'000'000)
        return "burst is " + std::to_string(burst) + ": 1 to 1000000";
    return std::nullopt;
}

}  // namespace pawl::core
