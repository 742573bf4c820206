#pragma once

#include <pawl/router.hpp>

#include "src/core/breaker.hpp"
#include "src/engine/provider_watch.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// The list of providers, and how this process fares with each of them. Thread-safe.
struct Router::Impl {
    explicit Impl(RouterOptions router_options);

    // nullptr: no provider of the list takes the payment, besides those that refused it. dice in
    // [0, 1).
    const Provider* choose(
        const Payment& payment,
        std::span<const std::string> refused,
        core::SteadyTime now,
        double dice
    );
    // Whether choose() would find one.
    bool has_other(const Payment& payment, std::span<const std::string> refused) const;
    // nullptr: the list does not have it.
    const Provider* find(std::string_view target) const;

    struct Ended {
        bool answered{};
        std::string error{};
        core::SteadyTime now{};
        TimePoint at{};  // The same moment, for people.
        double dice{};
    };
    // How a call or an inquiry ended.
    engine::ProviderChange ended(const Provider& provider, const Ended& end);
    std::vector<ProviderHealth> health() const;

    RouterOptions options;

private:
    std::size_t index_of(const Provider& provider) const {
        return static_cast<std::size_t>(&provider - options.providers.data());
    }

    core::BreakerRule rule_;
    mutable std::mutex mutex_;
    std::vector<core::Breaker> breakers_;  // In the order of the providers, as health_.
    std::vector<ProviderHealth> health_;
};

}  // namespace pawl
