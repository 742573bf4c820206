#include "src/core/breaker.hpp"
#include "src/core/retry_budget.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>  // Needs gtest before it.

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

namespace pawl::core::client_retry_limits_property_test {
namespace {

using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr SteadyTime start{std::chrono::hours{1}};

// The history of one server's budget: the granted repeats, each with the time of its token.
RC_GTEST_PROP(RetryBudget, no_stretch_of_time_has_more_repeats_than_its_tokens, ()) {
    const BudgetRule rule{
        .each_success = *rc::gen::inRange(0, 200) / 100.0,
        .per_s = *rc::gen::inRange(1, 100) / 10.0,
        .burst = *rc::gen::inRange(1, 20)};
    RC_ASSERT(!rule.problem());
    RetryBudget budget;
    auto now = start;
    std::vector<SteadyTime> repeats;
    std::vector<SteadyTime> successes;
    for (int i = *rc::gen::inRange(1, 150); i > 0; --i) {
        now += milliseconds{*rc::gen::inRange(0, 300)};
        if (*rc::gen::inRange(0, 3) == 0) {
            budget = after_success(rule, budget, now);
            successes.push_back(now);
            continue;
        }
        const milliseconds wait_max{*rc::gen::inRange(0, 5'000)};
        const auto taken = withdraw(rule, budget, now, wait_max);
        if (!taken) continue;
        RC_ASSERT(taken->wait >= milliseconds{0});
        RC_ASSERT(taken->wait <= wait_max);
        budget = taken->left;
        repeats.push_back(now + taken->wait);
    }
    std::sort(repeats.begin(), repeats.end());
    for (std::size_t from = 0; from < repeats.size(); ++from)
        for (std::size_t to = from; to < repeats.size(); ++to) {
            const double time = Seconds{repeats[to] - repeats[from]}.count();
            // Of all successes: an early one may have made room for a late one.
            const auto earned = rule.each_success * static_cast<double>(successes.size());
            const double tokens = rule.burst + rule.per_s * time + earned;
            RC_ASSERT(static_cast<double>(to - from + 1) <= tokens + 1e-6 + 0.002 * rule.per_s);
        }
}

RC_GTEST_PROP(RetryBudget, a_pause_as_long_as_its_burst_takes_fills_it, ()) {
    const BudgetRule rule{.per_s = 1, .burst = *rc::gen::inRange(1, 20)};
    RetryBudget budget;
    for (int i = *rc::gen::inRange(0, 40); i > 0; --i)
        if (const auto taken = withdraw(rule, budget, start, milliseconds{0})) budget = taken->left;

    const auto later = start + std::chrono::seconds{rule.burst};
    for (int i = 0; i < rule.burst; ++i) {
        const auto taken = withdraw(rule, budget, later, milliseconds{0});
        RC_ASSERT(taken.has_value());
        budget = taken->left;
    }
    RC_ASSERT(!withdraw(rule, budget, later, milliseconds{0}));
}

// Requests come at any time, and some of the granted ones fail.
RC_GTEST_PROP(Breaker, after_so_many_failures_one_goes_at_a_time_until_one_succeeds, ()) {
    const BreakerRule rule{
        .failures_max = *rc::gen::inRange(1, 6),
        .first = milliseconds{*rc::gen::inRange(1, 1'000)},
        .longest = milliseconds{*rc::gen::inRange(1'000, 10'000)},
        .probe_max = milliseconds{*rc::gen::inRange(1'000, 10'000)}};
    RC_ASSERT(!rule.problem());
    Breaker breaker;
    auto now = start;
    int failures = 0;
    SteadyTime failed_at{};
    std::optional<SteadyTime> probe;
    for (int i = *rc::gen::inRange(1, 200); i > 0; --i) {
        now += milliseconds{*rc::gen::inRange(0, 2'000)};
        const auto way = decide_pass(rule, breaker, now);
        if (const auto* later = std::get_if<WaitForBreaker>(&way)) {
            RC_ASSERT(failures >= rule.failures_max);
            RC_ASSERT(later->wait >= milliseconds{1});
            RC_ASSERT(later->wait <= rule.longest + rule.longest / 2 + milliseconds{1});
            continue;
        }
        breaker = std::get<Breaker>(way);
        if (failures >= rule.failures_max) {
            RC_ASSERT(!probe || now >= *probe + rule.probe_max);
            RC_ASSERT(now >= failed_at + rule.first);
            probe = now;
        }
        const auto end = *rc::gen::inRange(0, 3);
        if (end == 2) continue;  // Still in flight.
        if (end == 0) {
            breaker = {};
            failures = 0;
        } else {
            const bool is_probe = breaker.is_open();
            const auto dice = *rc::gen::inRange(0, 1'000) / 1'000.0;
            breaker = after_failure(rule, breaker, is_probe, now, dice);
            failed_at = now;
            ++failures;
        }
        probe.reset();
    }
}

}  // namespace
}  // namespace pawl::core::client_retry_limits_property_test
