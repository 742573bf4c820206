#include "src/core/quota.hpp"

#include "src/core/assert.hpp"

#include <algorithm>

namespace pawl::core {

using std::chrono::seconds;

Admission decide_admission(
    const QuotaRule& rule, const TenantUse& use, int account_in_flight, SteadyTime now
) noexcept {
    PAWL_ASSERT(use.in_flight >= 0);
    PAWL_ASSERT(account_in_flight >= 0);
    // The account first: if both limits are reached, the operator learns which account did it.
    if (rule.account_in_flight_max > 0 && account_in_flight >= rule.account_in_flight_max)
        return OverQuota{OverQuota::Limit::account_in_flight, seconds{1}};
    // When a running request ends is unknown; most take less than a second.
    if (rule.in_flight_max > 0 && use.in_flight >= rule.in_flight_max)
        return OverQuota{OverQuota::Limit::in_flight, seconds{1}};
    TenantUse after{use.in_flight + 1, use.full_at};
    if (rule.token_each.count() == 0) return after;

    const auto full_at = std::max(use.full_at, now);
    // A token is available if no more than burst - 1 are missing.
    const auto token_at = full_at - (rule.burst - 1) * rule.token_each;
    if (token_at > now)
        return OverQuota{OverQuota::Limit::rate, std::chrono::ceil<seconds>(token_at - now)};
    after.full_at = full_at + rule.token_each;
    return after;
}

bool is_forgettable(const TenantUse& use, SteadyTime now) noexcept {
    return use.in_flight == 0 && use.full_at <= now;
}

}  // namespace pawl::core
