#include "src/core/quota.hpp"

#include "src/core/assert.hpp"

#include <algorithm>

namespace pawl::core {

using std::chrono::seconds;

Admission decide_admission(
    const QuotaRule& rule, const TenantUse& use, int account_in_hand, SteadyTime now
) noexcept {
    PAWL_ASSERT(use.in_hand >= 0);
    PAWL_ASSERT(account_in_hand >= 0);
    // The account comes first: if both limits are reached, the operator learns who reached them.
    if (rule.account_in_hand_max > 0 && account_in_hand >= rule.account_in_hand_max)
        return OverQuota{OverQuota::Limit::account_in_hand, seconds{1}};
    // Nobody knows when one of those in hand ends; most do within a second.
    if (rule.in_hand_max > 0 && use.in_hand >= rule.in_hand_max)
        return OverQuota{OverQuota::Limit::in_hand, seconds{1}};
    TenantUse after{use.in_hand + 1, use.full_at};
    if (rule.token_each.count() == 0) return after;

    const auto full_at = std::max(use.full_at, now);
    // One token is there as long as all but one of the burst are still to come.
    const auto token_at = full_at - (rule.burst - 1) * rule.token_each;
    if (token_at > now)
        return OverQuota{OverQuota::Limit::rate, std::chrono::ceil<seconds>(token_at - now)};
    after.full_at = full_at + rule.token_each;
    return after;
}

bool is_forgettable(const TenantUse& use, SteadyTime now) noexcept {
    return use.in_hand == 0 && use.full_at <= now;
}

}  // namespace pawl::core
