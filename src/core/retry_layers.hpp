#pragma once

#include "src/core/backoff.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace pawl::core {

// The waits of a failed job, in turn; after the last layer, or after `attempts` tries if it has
// that many of its own, it is dead. More attempts than layers repeat the last layer. Jitter only
// adds, at most a tenth, so a job is never early. default_retry_layers() in pawl/job.hpp has the
// default. dice in [0, 1).
AfterFailure decide_after_job_failure(
    const std::vector<std::chrono::milliseconds>& layers,
    int failures,
    std::optional<int> attempts,
    double dice
) noexcept;

}  // namespace pawl::core
