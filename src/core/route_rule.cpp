#include "src/core/route_rule.hpp"

#include "src/core/assert.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace pawl {

std::string Provider::target() const {
    return account.empty() ? name : name + ' ' + account;
}

}  // namespace pawl

namespace pawl::core {

namespace {

bool passes(const BreakerRule& rule, const Breaker& breaker, SteadyTime now) {
    return std::holds_alternative<Breaker>(decide_pass(rule, breaker, now));
}

std::size_t by_share(
    std::span<const Provider> providers, const std::vector<std::size_t>& among, double dice
) {
    double sum = 0;
    for (const auto i : among) sum += providers[i].share;
    auto left = dice * sum;
    for (const auto i : among) {
        if (left < providers[i].share) return i;
        left -= providers[i].share;
    }
    return among.front();  // All shares are 0.
}

}  // namespace

bool takes(const Provider& provider, const Payment& payment) noexcept {
    const auto& currencies = provider.currencies;
    const bool currency =
        currencies.empty() || std::ranges::find(currencies, payment.currency) != currencies.end();
    return currency && payment.amount >= provider.amount_min &&
           payment.amount <= provider.amount_max;
}

bool is_left(
    const Provider& provider, const Payment& payment, std::span<const std::string> refused
) {
    return takes(provider, payment) &&
           std::ranges::find(refused, provider.target()) == refused.end();
}

std::optional<std::size_t> choose_provider(
    const RouteFacts& facts, const BreakerRule& rule, SteadyTime now, double dice
) {
    PAWL_ASSERT(facts.breakers.size() == facts.providers.size());
    std::vector<std::size_t> left;
    std::vector<std::size_t> up;
    for (std::size_t i = 0; i < facts.providers.size(); ++i) {
        if (!is_left(facts.providers[i], facts.payment, facts.refused)) continue;
        left.push_back(i);
        if (passes(rule, facts.breakers[i], now)) up.push_back(i);
    }
    if (left.empty()) return std::nullopt;
    return by_share(facts.providers, up.empty() ? left : up, dice);
}

}  // namespace pawl::core
