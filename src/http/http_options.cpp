#include "src/http/http_options.hpp"

#include "src/base/options.hpp"
#include "src/http/descriptor_limit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

namespace pawl {

std::optional<std::string> TenantQuota::problem() const {
    constexpr std::string_view any_or_none = "at least 1, or 0 for no limit";
    if (in_flight_max && *in_flight_max < 0)
        return base::wrong_option("in_flight_max", *in_flight_max, any_or_none);
    if (account_in_flight_max && *account_in_flight_max < 0)
        return base::wrong_option("account_in_flight_max", *account_in_flight_max, any_or_none);
    if (account_in_flight_max && in_flight_max.value_or(0) > 0 &&
        *account_in_flight_max > *in_flight_max)
        return "account_in_flight_max is " + std::to_string(*account_in_flight_max) +
               ", and in_flight_max of its tenant " + std::to_string(*in_flight_max) +
               ": at most that";
    if (!(rate_per_s == 0 || (rate_per_s >= 0.001 && rate_per_s <= 1e6)))
        return base::wrong_option("rate_per_s", rate_per_s, "0.001 to 1000000, or 0 for no limit");
    if (burst && rate_per_s == 0)
        return "burst is " + std::to_string(*burst) +
               ", but rate_per_s is not set: a burst needs a rate";
    return burst ? base::out_of("burst", *burst, 1, 1'000'000) : std::nullopt;
}

namespace {

std::optional<std::string> wrong_time(
    std::string_view name, std::chrono::milliseconds value, std::chrono::milliseconds most
) {
    if (value.count() >= 1 && value <= most) return std::nullopt;
    return std::string{name} + " is " + std::to_string(value.count()) + " ms: 1 to " +
           std::to_string(most.count());
}

}  // namespace

std::optional<std::string> HttpLimits::problem() const {
    using namespace std::chrono_literals;
    using base::out_of;
    constexpr std::uint64_t kib = 1024;  // Beast holds no header of more than 64 of them.
    if (auto why = out_of("line_max", line_max, 256, 60 * kib)) return why;
    if (auto why = out_of("headers_max", headers_max, kib, 60 * kib)) return why;
    if (auto why = out_of("headers_count_max", headers_count_max, 1, 10'000)) return why;
    if (auto why = out_of("body_max", body_max, 0, 64 * kib * kib)) return why;
    if (auto why = out_of("public_body_max", public_body_max, 0, 64 * kib * kib)) return why;
    if (auto why = out_of("bodies_max", bodies_max, body_max, kib * kib * kib * kib)) return why;
    if (auto why = out_of("body_rate_min", body_rate_min, 0, kib * kib * kib)) return why;
    for (const auto& [name, value] :
         {std::pair{"header_timeout", header_timeout},
          {"body_grace", body_grace},
          {"write_timeout", write_timeout},
          {"idle_timeout", idle_timeout}})
        if (auto why = wrong_time(name, value, 24h)) return why;
    return std::nullopt;
}

std::optional<std::string> HttpOptions::problem() const {
    if (!authenticate && !anonymous)
        return "authenticate is not set: set it, or set anonymous = true if all clients may share "
               "one account";
    const auto quotable = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (!std::ranges::all_of(realm, quotable))
        return "realm is " + realm + ": visible ASCII without \" and \\";
    if (key_reused_status != 422 && key_reused_status != 409 && key_reused_status != 400)
        return base::wrong_option("key_reused_status", key_reused_status, "422, 409 or 400");
    const http::ListenerOptions listener{
        .limits = limits,
        .connections_max = connections_max,
        .connections_per_address_max = connections_per_address_max,
        .trusted_proxies = trusted_proxies};
    if (auto why = listener.problem()) return why;
    if (threads < 0 || threads > 256)
        return base::wrong_option("threads", threads, "1 to 256, or 0 for one a core");
    if (browser.token_field.empty()) return "browser.token_field is empty: the name of a field";
    if (auto why = quota.problem()) return "quota." + *why;
    return std::nullopt;
}

namespace http {

ListenerOptions listener_options(
    const HttpOptions& options, int calls_max, const base::OnWarning& on_warning
) {
    const auto by_default = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
    return {
        .listen = options.listen,
        .limits = options.limits,
        .connections_max = connections_within_limit(options.connections_max, calls_max, on_warning),
        .connections_per_address_max = options.connections_per_address_max,
        .trusted_proxies = options.trusted_proxies,
        .threads = options.threads > 0 ? options.threads : static_cast<int>(by_default)};
}

core::QuotaRule quota_rule(const HttpOptions& options, int calls_max) {
    const auto& quota = options.quota;
    core::QuotaRule rule;
    // The only tenant can't crowd out others. Queries and replays need no call: hence the 16.
    const int by_default = options.authenticate ? std::max(calls_max / 2, 16) : 0;
    rule.in_flight_max = quota.in_flight_max.value_or(by_default);
    // Half, rounded up: one account at its limit always leaves room for a second.
    rule.account_in_flight_max = quota.account_in_flight_max.value_or((rule.in_flight_max + 1) / 2);
    if (quota.rate_per_s == 0) return rule;
    rule.token_each = std::chrono::nanoseconds{std::llround(std::ceil(1e9 / quota.rate_per_s))};
    rule.burst = quota.burst.value_or(static_cast<int>(std::ceil(quota.rate_per_s)));
    return rule;
}

}  // namespace http

}  // namespace pawl
