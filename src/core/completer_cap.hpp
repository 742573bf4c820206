#pragma once

#include <pawl/detail/session.hpp>

#include "src/core/backoff.hpp"

#include <chrono>

namespace pawl::core {

// When the completer stops trying a key, so that a person must look at it. Which keys it tries is
// the condition of find_completable in src/store/sql/keys.sql.
struct CompleterCap {
    int runs_max{20};  // The completer's failed runs, without the client's retries...
    std::chrono::milliseconds at_least{std::chrono::hours{24}};  // ...over at least this long.
    std::chrono::milliseconds wait_first{std::chrono::seconds{5}};
    std::chrono::milliseconds wait_max{std::chrono::hours{2}};
    // After a defect of our own program or schema: a try makes no call, and a fix ends it at once.
    std::chrono::milliseconds defect_wait_max{std::chrono::minutes{10}};
};

enum class RunFailure {
    outage,       // The database or a provider is away.
    defect,       // A phase threw or broke a constraint.
    not_recorded  // The keeper did, and the call's result is stored: nobody need decide anything.
};

// `runs` includes the failed run that just ended. dice in [0, 1).
AfterFailure decide_after_completer_failure(
    const CompleterCap& cap,
    RunFailure why,
    int runs,
    TimePoint first_at,
    TimePoint now,
    double dice
) noexcept;

}  // namespace pawl::core
