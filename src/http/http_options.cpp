#include "src/http/http_options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace pawl {

std::optional<std::string> TenantQuota::problem() const {
    if (in_hand_max && *in_hand_max < 0)
        return "in_hand_max is " + std::to_string(*in_hand_max) + ": at least 1, or 0 for no limit";
    if (!(rate_per_s == 0 || (rate_per_s >= 0.001 && rate_per_s <= 1e6)))
        return "rate_per_s is " + std::to_string(rate_per_s) +
               ": 0.001 to 1000000, or 0 for no limit";
    if (burst && rate_per_s == 0)
        return "burst is " + std::to_string(*burst) +
               ", and rate_per_s is not set: it says how fast "
               "they may follow";
    if (burst && (*burst < 1 || *burst > 1'000'000))
        return "burst is " + std::to_string(*burst) + ": 1 to 1000000";
    return std::nullopt;
}

std::optional<std::string> HttpOptions::problem() const {
    if (!authenticate && !anonymous)
        return "authenticate is not set: set it, or say anonymous = true if all clients may share "
               "one account";
    if (key_reused_status != 422 && key_reused_status != 409 && key_reused_status != 400)
        return "key_reused_status is " + std::to_string(key_reused_status) + ": 422, 409 or 400";
    if (connections_max < 1)
        return "connections_max is " + std::to_string(connections_max) + ": at least 1";
    if (threads < 0 || threads > 256)
        return "threads is " + std::to_string(threads) + ": 1 to 256, or 0 for one a core";
    if (auto why = quota.problem()) return "quota." + *why;
    return std::nullopt;
}

namespace http {

HttpOptions checked(HttpOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"pawl::HttpOptions: " + *why};
    return options;
}

core::QuotaRule quota_rule(const HttpOptions& options, int calls_max) {
    const auto& quota = options.quota;
    core::QuotaRule rule;
    // Who is alone takes nothing from anybody. Queries and replays need no call: hence the 16.
    const int by_default = options.authenticate ? std::max(calls_max / 2, 16) : 0;
    rule.in_hand_max = quota.in_hand_max.value_or(by_default);
    if (quota.rate_per_s == 0) return rule;
    rule.token_each = std::chrono::nanoseconds{std::llround(std::ceil(1e9 / quota.rate_per_s))};
    rule.burst = quota.burst.value_or(static_cast<int>(std::ceil(quota.rate_per_s)));
    return rule;
}

}  // namespace http

}  // namespace pawl
