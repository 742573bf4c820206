#include "src/ops/job_choice.hpp"

#include "src/core/call_rule.hpp"

#include <algorithm>

namespace pawl::ops {

void each_job_batch(
    queue::Jobs& jobs,
    JobChoice choice,
    TimePoint now,
    const std::function<void(std::span<const std::string>)>& f
) {
    std::span<const std::string> given{choice.ids};
    while (!given.empty()) {
        const auto size = std::min<std::size_t>(job_batch, given.size());
        f(given.first(size));
        given = given.subspan(size);
    }
    if (!choice.ids.empty()) return;
    auto& filter = choice.filter;
    const auto staged_by = now + core::clocks_differ_by;
    filter.created_before = std::min(filter.created_before.value_or(staged_by), staged_by);
    std::string after;
    std::vector<std::string> ids;
    do {
        ids.clear();
        for (const auto& job : jobs.page(filter, after, job_batch)) ids.push_back(job.id);
        if (ids.empty()) return;
        f(ids);
        after = ids.back();
    } while (std::ssize(ids) == job_batch);
}

}  // namespace pawl::ops
