#include <pawl/router.hpp>

#include "src/core/route_rule.hpp"
#include "src/engine/router_impl.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

namespace pawl {

namespace {

constexpr std::size_t target_max = 200;  // Bytes.
constexpr std::size_t providers_max = 100;

core::BreakerRule rule_of(const RouterOptions& options) {
    return {
        .failures_max = options.breaker_failures,
        .first = options.breaker_first,
        .longest = options.breaker_wait_max,
        .probe_max = std::max(options.breaker_wait_max, options.breaker_first)};
}

std::optional<std::string> problem_of(const Provider& provider) {
    if (provider.name.empty()) return "has no name";
    if (provider.target().size() > target_max)
        return "has a name and an account of more than " + std::to_string(target_max) + " bytes";
    if (provider.again == Repeat::safe)
        return "has again = Repeat::safe: a payment is safe_with_key or never";
    if (provider.key_digits < 32 || provider.key_digits > 64)
        return "has key_digits = " + std::to_string(provider.key_digits) + ": 32 to 64";
    if (provider.key_lifetime.count() < 1) return "has a key_lifetime below 1 h";
    if (provider.ask_after && provider.ask_after->count() < 0) return "has a negative ask_after";
    if (!std::isfinite(provider.share) || provider.share < 0)
        return "has share = " + std::to_string(provider.share) + ": 0 or more";
    if (provider.amount_max < provider.amount_min) return "has amount_max below amount_min";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> RouterOptions::problem() const {
    if (providers.empty() || providers.size() > providers_max)
        return "providers has " + std::to_string(providers.size()) + " entries: 1 to " +
               std::to_string(providers_max);
    std::set<std::string> targets;
    for (const auto& provider : providers) {
        if (auto why = problem_of(provider))
            return "the provider \"" + provider.target() + "\" " + *why;
        if (!targets.insert(provider.target()).second)
            return "the provider \"" + provider.target() + "\" stands twice in the list";
    }
    if (auto why = rule_of(*this).problem()) return "breaker: " + *why;
    return std::nullopt;
}

Router::Impl::Impl(RouterOptions router_options)
    : options{std::move(router_options)},
      rule_{rule_of(options)},
      breakers_(options.providers.size()) {
    for (const auto& provider : options.providers) health_.push_back({.target = provider.target()});
}

const Provider* Router::Impl::choose(
    const Payment& payment, std::span<const std::string> refused, core::SteadyTime now, double dice
) {
    const std::lock_guard lock{mutex_};
    const auto chosen = core::choose_provider(
        {.payment = payment,
         .providers = options.providers,
         .breakers = breakers_,
         .refused = refused},
        rule_,
        now,
        dice
    );
    if (!chosen) return nullptr;
    auto& breaker = breakers_[*chosen];
    // The first payment after the breaker's time is its probe.
    const auto way = core::decide_pass(rule_, breaker, now);
    if (const auto* passed = std::get_if<core::Breaker>(&way)) breaker = *passed;
    return &options.providers[*chosen];
}

bool Router::Impl::has_other(const Payment& payment, std::span<const std::string> refused) const {
    return std::ranges::any_of(options.providers, [&](const auto& provider) {
        return core::is_left(provider, payment, refused);
    });
}

const Provider* Router::Impl::find(std::string_view target) const {
    const auto at = std::ranges::find_if(options.providers, [&](const auto& provider) {
        return provider.target() == target;
    });
    return at == options.providers.end() ? nullptr : &*at;
}

engine::ProviderChange Router::Impl::ended(const Provider& provider, const Ended& end) {
    const auto i = index_of(provider);
    const std::lock_guard lock{mutex_};
    auto& breaker = breakers_[i];
    auto& health = health_[i];
    const bool was_open = breaker.is_open();
    if (end.answered)
        breaker = {};
    else
        breaker =
            core::after_failure(rule_, breaker, breaker.probe_since.has_value(), end.now, end.dice);
    health.failures = breaker.failures;
    if (!end.answered) health.last_error = end.error;
    using Change = engine::ProviderChange;
    if (breaker.is_open() == was_open) return Change::none;
    health.down_since = was_open ? std::nullopt : std::optional{end.at};
    return was_open ? Change::up : Change::down;
}

std::vector<ProviderHealth> Router::Impl::health() const {
    const std::lock_guard lock{mutex_};
    return health_;
}

Router::Router(RouterOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"pawl: router: " + *why};
    impl_ = std::make_unique<Impl>(std::move(options));
}

Router::~Router() = default;

bool Router::takes(const Payment& payment) const {
    return std::ranges::any_of(impl_->options.providers, [&](const auto& provider) {
        return core::takes(provider, payment);
    });
}

const std::vector<Provider>& Router::providers() const {
    return impl_->options.providers;
}

std::vector<ProviderHealth> Router::health() const {
    return impl_->health();
}

}  // namespace pawl
