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
};

// `runs` includes the failed run that just ended. dice in [0, 1).
AfterFailure decide_after_completer_failure(
    const CompleterCap& cap, int runs, TimePoint first_at, TimePoint now, double dice
) noexcept;

}  // namespace pawl::core
