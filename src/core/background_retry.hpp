#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

// When the completer and the workers try again, and when they stop.
namespace pawl::core {

struct CompleterCap {
    int runs_max{20};  // The completer's failed runs, without the client's retries...
    std::chrono::milliseconds at_least{std::chrono::hours{24}};  // ...over at least this long.
    std::chrono::milliseconds first_wait{std::chrono::seconds{5}};
    std::chrono::milliseconds longest_wait{std::chrono::hours{2}};
};

struct TryAgainIn {
    std::chrono::milliseconds wait;
};
struct CapReached {};
using AfterFailure = std::variant<TryAgainIn, CapReached>;

// `first` doubled `times` times, at most `longest`.
std::chrono::milliseconds grown(
    std::chrono::milliseconds first, std::chrono::milliseconds longest, int times
) noexcept;

// `runs` includes the failed run that just ended. dice in [0, 1).
AfterFailure decide_after_completer_failure(
    const CompleterCap& cap, int runs, TimePoint first_at, TimePoint now, double dice
) noexcept;

// The waits of a failed job, in turn; after the last it is dead. Jitter only adds, at most a tenth,
// so a job is never early.
AfterFailure decide_after_job_failure(
    const std::vector<std::chrono::milliseconds>& layers, int failures, double dice
) noexcept;

}  // namespace pawl::core
