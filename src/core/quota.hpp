#pragma once

#include <chrono>
#include <variant>

// Whether one tenant's request is let in, by what that tenant has asked for before.
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

struct QuotaRule {
    int in_hand_max{0};  // Requests of a tenant at once; 0: any number.
    // Requests of one account of a tenant at once; 0: any number. Less than in_hand_max, so that
    // one account can't use up what all accounts of its tenant share.
    int account_in_hand_max{0};
    std::chrono::nanoseconds token_each{};  // So often one more may come, over time; 0: no rate.
    int burst{1};                           // Tokens of a tenant that has not asked for a while.
};

// A bucket of tokens as the moment at which it is full again (GCRA, as ATM networks have it): each
// request that is let in moves it on by one token, and no time that goes by is ever written down.
// A default one has asked for nothing yet.
struct TenantUse {
    int in_hand{0};
    SteadyTime full_at{};
};

struct OverQuota {
    enum class Limit { in_hand, rate, account_in_hand };
    Limit limit{};
    std::chrono::seconds retry_after{1};  // By the rate, when a token is there if nobody takes it.
};

// What the tenant has asked for with this request, or why it is refused. One that is refused costs
// no token: whoever waits as long as it was told is let in, however often it has knocked.
// `account_in_hand` is the number of requests in flight of the account that sends this one.
using Admission = std::variant<TenantUse, OverQuota>;
Admission decide_admission(
    const QuotaRule& rule, const TenantUse& use, int account_in_hand, SteadyTime now
) noexcept;

// It is let in as one that was never seen: nothing is lost if it is forgotten.
bool is_forgettable(const TenantUse& use, SteadyTime now) noexcept;

}  // namespace pawl::core
