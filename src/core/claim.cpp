#include "src/core/claim.hpp"

#include "src/core/mutant.hpp"

namespace pawl::core {

TimePoint lease_bound(TimePoint now, std::chrono::milliseconds lease) noexcept {
    return now + 2 * lease;
}

bool lease_over(
    std::optional<TimePoint> lease_until, TimePoint now, std::chrono::milliseconds lease
) noexcept {
    if (PAWL_MUTANT("lease_is_always_over")) return true;
    if (PAWL_MUTANT("lease_never_ends")) return !lease_until;
    if (PAWL_MUTANT("far_lease_holds") && lease_until && *lease_until > now) return false;
    return !lease_until || *lease_until <= now || *lease_until > lease_bound(now, lease);
}

Claim decide_claim(
    const KeyFacts* found, bool re_execute, TimePoint now, std::chrono::milliseconds lease
) noexcept {
    if (found == nullptr) return Fresh{};
    if (found->expired) {
        if (re_execute || PAWL_MUTANT("expired_is_new")) return ReExecute{};
        return Expired{};
    }
    if (!found->same_request) return Mismatch{};
    if (found->standing == Standing::finished) return Replay{};
    if (found->standing == Standing::attention) return NeedsPerson{};
    if (!lease_over(found->lease_until, now, lease)) return Busy{};
    if (!found->point_known) return Stranded{};
    return Resume{};
}

}  // namespace pawl::core
