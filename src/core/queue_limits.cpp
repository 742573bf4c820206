#include "src/core/queue_limits.hpp"

#include <algorithm>
#include <limits>

namespace pawl::core {

namespace {

// The latest time at which a bucket may be full is that of an empty one. A later one was written by
// a wrong clock, or for a slower rate.
Microseconds possible(const QueueLimits& limits, Microseconds full_at, Microseconds now) {
    return std::clamp(full_at, now, now + limits.burst * limits.token_each);
}

std::int64_t free_places(const QueueLimits& limits, const QueueUse& use, bool for_retries) {
    if (limits.running_max == 0) return std::numeric_limits<int>::max();
    const auto in_all = limits.running_max - use.running;
    if (!for_retries) return in_all;
    return std::min(in_all, std::max(limits.running_max / 2, 1) - use.retries_running);
}

}  // namespace

ClaimRoom decide_claim_room(
    const QueueLimits& limits, const QueueUse& use, bool for_retries, int asked, Microseconds now
) noexcept {
    const auto places =
        std::clamp<std::int64_t>(free_places(limits, use, for_retries), 0, std::max(asked, 0));
    if (limits.token_each.count() == 0) return {.jobs = static_cast<int>(places)};
    const auto missing = possible(limits, use.full_at, now) - now;
    const auto tokens = (limits.burst * limits.token_each - missing) / limits.token_each;
    if (tokens < 1) return {.more_in = missing - (limits.burst - 1) * limits.token_each};
    return {.jobs = static_cast<int>(std::min<std::int64_t>(places, tokens))};
}

Microseconds full_at_after(
    const QueueLimits& limits, Microseconds full_at, int jobs, Microseconds now
) noexcept {
    return possible(limits, full_at, now) + jobs * limits.token_each;
}

}  // namespace pawl::core
