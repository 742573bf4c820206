#include "src/core/breaker.hpp"

#include "src/core/backoff.hpp"

#include <algorithm>

namespace pawl::core {

namespace {

using std::chrono::milliseconds;

WaitForBreaker come_back_at(SteadyTime at, SteadyTime now) {
    return {std::max(std::chrono::ceil<milliseconds>(at - now), milliseconds{1})};
}

}  // namespace

PassOrWait decide_pass(const BreakerRule& rule, const Breaker& breaker, SteadyTime now) noexcept {
    if (!breaker.is_open()) return breaker;
    if (now < breaker.open_until) return come_back_at(breaker.open_until, now);
    if (breaker.probe_since && now < *breaker.probe_since + rule.probe_max)
        return come_back_at(std::min(*breaker.probe_since + rule.probe_max, now + rule.first), now);
    auto probing = breaker;
    probing.probe_since = now;
    return probing;
}

Breaker after_failure(
    const BreakerRule& rule, const Breaker& breaker, bool probe, SteadyTime now, double dice
) noexcept {
    auto after = breaker;
    after.failures = std::min(breaker.failures + 1, 1'000'000);
    if (breaker.is_open() && !probe) return after;
    if (!breaker.is_open() && (rule.failures_max == 0 || after.failures < rule.failures_max))
        return after;
    const auto wait = exponential_backoff(rule.first, rule.longest, after.openings);
    after.openings = std::min(after.openings + 1, 1'000);
    after.probe_since.reset();
    after.open_until = now + scaled(wait, 1.0 + 0.5 * dice);
    return after;
}

std::optional<std::string> BreakerRule::problem() const {
    auto ms = [](milliseconds m) { return std::to_string(m.count()) + " ms"; };
    if (failures_max < 0 || failures_max > 1'000'000)
        return "failures_max is " + std::to_string(failures_max) + ": 1 to 1000000, or 0 for never";
    if (first.count() < 1) return "first is " + ms(first) + ": at least 1 ms";
    if (longest < first) return "longest is " + ms(longest) + ": at least first, " + ms(first);
    if (probe_max < first)
        return "probe_max is " + ms(probe_max) + ": at least first, " + ms(first);
    return std::nullopt;
}

}  // namespace pawl::core
