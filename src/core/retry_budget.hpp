#pragma once

#include <chrono>
#include <optional>
#include <string>

// How many repeats a process sends to one server, whoever in it asks. Retries multiply a load just
// when it can't be borne: Google's SRE book, "Handling Overload", gives them a tenth of what is
// asked; the form is a bucket of tokens (gRPC's proposal A6, Finagle's RetryBudget).
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

struct BudgetRule {
    double each_success{0.1};  // Of a repeat: what an answer that is no failure adds.
    double per_s{1};           // And what time adds, or a process that is alone would never go on.
    int burst{10};             // So many at once after a pause.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// The bucket as the moment at which it is full again, as TenantUse is. A default one is full.
struct RetryBudget {
    SteadyTime full_at{};
};

struct Withdrawn {
    RetryBudget left;
    std::chrono::milliseconds wait{};  // The token is there in so long; it is kept for who took it.
};

// A token for a repeat, which may be one of those to come; nothing if that would take longer than
// `wait_max`: then none is taken.
std::optional<Withdrawn> withdraw(
    const BudgetRule& rule,
    const RetryBudget& budget,
    SteadyTime now,
    std::chrono::milliseconds wait_max
) noexcept;

RetryBudget after_success(
    const BudgetRule& rule, const RetryBudget& budget, SteadyTime now
) noexcept;

}  // namespace pawl::core
