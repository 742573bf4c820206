#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

// A circuit breaker: whether to send to a failing server at all (Nygard, Release It!, "Circuit
// Breaker").
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

struct BreakerRule {
    int failures_max{10};  // In a row, of all requests to the server; then it opens. 0: never.
    std::chrono::milliseconds first{1'000};     // How long it is open, plus up to half at random;
    std::chrono::milliseconds longest{30'000};  // doubles with each failed probe.
    // A probe that takes longer is given up: another may go.
    std::chrono::milliseconds probe_max{60'000};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Closed at first: all requests pass. Open: none passes until a time. Then half open: one request,
// the probe, passes, and its result closes or opens the breaker again.
struct Breaker {
    int failures{0};  // In a row.
    int openings{0};  // Without a success in between; 0: closed.
    SteadyTime open_until{};
    std::optional<SteadyTime> probe_since{};
    bool is_open() const { return openings > 0; }
};

struct WaitForBreaker {
    std::chrono::milliseconds wait{};
};
using PassOrWait = std::variant<Breaker, WaitForBreaker>;  // It may go, and so the breaker is then.

PassOrWait decide_pass(const BreakerRule& rule, const Breaker& breaker, SteadyTime now) noexcept;

// For the probe, or a request that was sent before the breaker opened, which does not change an
// open breaker. dice in [0, 1).
Breaker after_failure(
    const BreakerRule& rule, const Breaker& breaker, bool probe, SteadyTime now, double dice
) noexcept;

}  // namespace pawl::core
