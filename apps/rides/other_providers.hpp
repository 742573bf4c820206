#pragma once

#include <pawl/client.hpp>
#include <pawl/inquiry.hpp>
#include <pawl/router.hpp>

#include "apps/rides/stripe.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace rides {

// A payment at a provider other than Stripe, taken only from a recovery point: each repeat must be
// the same to the byte.
struct PaymentOrder {
    // Ours, the same for every try and every generation: the provider is asked by it.
    std::string reference;
    std::int64_t amount{};
    std::string currency;
};
using Paid = pawl::Outcome<Charge, Declined, pawl::TryNext<Declined>>;

// A provider with a JSON interface: keys of at most 32 characters, 202 for a payment that it
// captures later, and a list of payments by our reference. A refusal does not use its key up. See
// apps/standins/second_provider.hpp. Thread-safe.
class JsonProvider {
public:
    static constexpr std::size_t key_digits = 32;
    // By its contract: later than this after it was sent, a payment that is not listed is not made.
    static constexpr std::chrono::seconds listed_after{5};
    JsonProvider(std::string url, int connections_max);

    Paid pay(pawl::RoutedCall& call, const PaymentOrder& order);
    pawl::Inquiry<Charge, Declined> inquire(pawl::InquiryCall& call, const PaymentOrder& order);

private:
    Paid await_capture(
        pawl::RoutedCall& call, const std::string& payment, const PaymentOrder& order
    );

    pawl::Client client_;
};

// A provider without keys, which can't be asked: a doubt about it is a person's to settle.
class TextProvider {
public:
    TextProvider(std::string url, int connections_max);
    Paid pay(pawl::RoutedCall& call, const PaymentOrder& order);

private:
    pawl::Client client_;
};

}  // namespace rides
