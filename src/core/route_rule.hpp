#pragma once

#include <pawl/router.hpp>

#include "src/core/breaker.hpp"

#include <optional>
#include <span>
#include <string>

// Which of several providers gets a payment that no provider may have carried out.
namespace pawl::core {

// Whether the provider's rules admit the payment.
bool takes(const Provider& provider, const Payment& payment) noexcept;

// The same, and the provider has not refused it.
bool is_left(
    const Provider& provider, const Payment& payment, std::span<const std::string> refused
);

struct RouteFacts {
    const Payment& payment;
    std::span<const Provider> providers;
    std::span<const Breaker> breakers;  // Of the providers, in their order.
    // Targets of the providers that refused this payment.
    std::span<const std::string> refused;
};

// The chosen provider's index; nullopt: none is left. Of the providers that take the payment, those
// whose breakers let it pass come first. Their shares decide; if these are all 0, their order does.
// dice in [0, 1).
std::optional<std::size_t> choose_provider(
    const RouteFacts& facts, const BreakerRule& rule, SteadyTime now, double dice
);

}  // namespace pawl::core
