#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

// Whether anything is sent to a server at all, after it has failed so often: a circuit breaker
// (Nygard, Release It!, "Circuit Breaker").
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

struct BreakerRule {
    int failures_max{10};  // In a row, of all requests to the server; then it opens. 0: never.
    std::chrono::milliseconds first{1'000};     // Open for so long, half more by chance, ...
    std::chrono::milliseconds longest{30'000};  // ...and twice as long with each probe that fails.
    // A probe that has not ended after so long is given up: another may go.
    std::chrono::milliseconds probe_max{60'000};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Closed at first: all goes through. Open: nothing does until a time. Then half open: one request
// goes, the probe, and its end closes or opens it again.
struct Breaker {
    int failures{0};  // In a row.
    int openings{0};  // Without a success between them; 0: closed.
    SteadyTime open_until{};
    std::optional<SteadyTime> probe_since{};
    bool is_open() const { return openings > 0; }
};

struct ComeBack {
    std::chrono::milliseconds wait{};
};
using PassOrWait = std::variant<Breaker, ComeBack>;  // It may go, and so the breaker is then.

PassOrWait decide_pass(const BreakerRule& rule, const Breaker& breaker, SteadyTime now) noexcept;

// Of the probe, or of a request that was sent before it opened: that one changes nothing of an open
// breaker. dice in [0, 1).
Breaker after_failure(
    const BreakerRule& rule, const Breaker& breaker, bool probe, SteadyTime now, double dice
) noexcept;

}  // namespace pawl::core
