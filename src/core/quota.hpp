#pragma once

#include <chrono>
#include <variant>

// Whether a tenant's request is admitted, given its earlier requests.
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

struct QuotaRule {
    int in_flight_max{0};  // Concurrent requests of a tenant; 0: unlimited.
    // Concurrent requests of one account of a tenant; 0: unlimited. Below in_flight_max, so that
    // one account can't use up its tenant's share.
    int account_in_flight_max{0};
    std::chrono::nanoseconds token_each{};  // The time in which a token is added; 0: no rate.
    int burst{1};                           // The most tokens that a tenant can have.
};

// A token bucket, stored as the time at which it is full again (GCRA, as in ATM networks): each
// admitted request moves it by one token. The default is a full bucket.
struct TenantUse {
    int in_flight{0};
    SteadyTime full_at{};
};

struct OverQuota {
    enum class Limit { in_flight, rate, account_in_flight };
    Limit limit{};
    // For the rate: when a token is available if no other request takes it.
    std::chrono::seconds retry_after{1};
};

// The tenant's use after this request, or why it is refused. A refused request costs no token: a
// client that waits as told is admitted. `account_in_flight`: those of this account in flight.
using Admission = std::variant<TenantUse, OverQuota>;
Admission decide_admission(
    const QuotaRule& rule, const TenantUse& use, int account_in_flight, SteadyTime now
) noexcept;

// The tenant is as good as never seen, and can be forgotten.
bool is_forgettable(const TenantUse& use, SteadyTime now) noexcept;

}  // namespace pawl::core
