#include "src/core/claim_rule.hpp"

namespace pawl::core {

TimePoint lease_bound(TimePoint now, std::chrono::milliseconds lease) noexcept {
    return now + 2 * lease;
}

bool lease_over(
    std::optional<TimePoint> lease_until, TimePoint now, std::chrono::milliseconds lease
) noexcept {
    return !lease_until || *lease_until <= now || *lease_until > lease_bound(now, lease);
}

Claim decide_claim(
    const KeyFacts* found, bool re_execute, TimePoint now, std::chrono::milliseconds lease
) noexcept {
    if (found == nullptr) return Fresh{};
    if (found->expired) {
        if (re_execute) return ReExecute{};
        return Expired{};
    }
    if (!found->comparable) return NotComparable{};
    if (!found->same_request) return Mismatch{};
    if (found->status == KeyStatus::finished) return Replay{};
    if (found->status == KeyStatus::attention) return NeedsPerson{};
    if (!lease_over(found->lease_until, now, lease)) return Busy{};
    if (found->held) return OnHold{};
    if (!found->point_known) return Stranded{};
    return Resume{};
}

}  // namespace pawl::core
