#pragma once

#include <chrono>
#include <optional>
#include <string>

// How many repeats a process sends to one server, for all its callers. Retries multiply a load just
// when it is too high: Google's SRE book, "Handling Overload", limits them to a tenth of the
// requests; the form is a token bucket (gRPC's proposal A6, Finagle's RetryBudget).
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

struct BudgetRule {
    double each_success{0.1};  // Tokens that a successful answer adds.
    double per_s{1};  // Tokens a second, so that a process with few requests can retry, too.
    int burst{10};    // The most tokens after a pause.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// The bucket as the time at which it is full again, as in TenantUse. The default is full.
struct RetryBudget {
    SteadyTime full_at{};
};

struct TakenToken {
    RetryBudget left;
    // When the token is available; it is reserved for the caller.
    std::chrono::milliseconds wait{};
};

// Takes a token, perhaps a future one; nullopt, if it would take longer than `wait_max`.
std::optional<TakenToken> withdraw(
    const BudgetRule& rule,
    const RetryBudget& budget,
    SteadyTime now,
    std::chrono::milliseconds wait_max
) noexcept;

RetryBudget after_success(
    const BudgetRule& rule, const RetryBudget& budget, SteadyTime now
) noexcept;

}  // namespace pawl::core
