#pragma once

#include "src/queue/jobs.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

// Operators' work on many jobs at once, in batches.
namespace pawl::ops {

// The chosen jobs: these ids, or all that the filter selects.
struct JobChoice {
    std::vector<std::string> ids;
    queue::JobFilter filter;
};

inline constexpr int job_batch = 500;

// Calls `f` with the ids of up to job_batch chosen jobs at a time. A filter selects jobs that were
// staged by `now`, with an allowance for clock differences: those that come meanwhile would keep it
// running for ever.
void each_job_batch(
    queue::Jobs& jobs,
    JobChoice choice,
    TimePoint now,
    const std::function<void(std::span<const std::string>)>& f
);

}  // namespace pawl::ops
