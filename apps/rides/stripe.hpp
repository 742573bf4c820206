#pragma once

#include <pawl/call.hpp>
#include <pawl/client.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rides {

struct Charge {
    std::string id;
};
struct Declined {
    std::string code;  // "card_declined"
    std::string message;
};
struct Refund {
    std::string id;
};
struct RefundRefused {
    std::string code;
    std::string message;
};

// A charge's data, taken only from a recovery point: each repeat must be the same to the byte.
struct ChargeOrder {
    std::int64_t amount{};
    std::string currency;
    std::string customer;
    std::string description;
};
struct RefundOrder {
    std::string charge;
    std::int64_t amount{};
};

// A charge as Stripe stores it.
struct BookedCharge {
    std::string id;
    std::int64_t amount{};
    std::string currency;
    std::string customer;
    std::string description;
    std::int64_t created{};  // Seconds since 1970.
};
struct ChargePage {
    std::vector<BookedCharge> charges;  // Newest first.
    bool has_more{};
};
// The charges to list: made in [since, until), in seconds; after the id `after`.
struct ChargeQuery {
    std::int64_t since{};
    std::int64_t until{};
    std::string after{};
};

// Stripe's API, version 1. Thread-safe.
class Stripe {
public:
    static constexpr std::chrono::seconds timeout{25};  // Time limit of a call.
    struct Where {
        std::string url;
        std::string api_key;
        // Stripe's name of the account. Without it, a hash of the API key identifies the account,
        // and another key of the same account counts as another account.
        std::string account{};
    };
    Stripe(Where where, int connections_max);

    // URL and account, never the API key.
    const std::string& target() const { return target_; }

    pawl::Outcome<Charge, Declined> charge(pawl::KeyedCall& call, const ChargeOrder& order);
    // Without a key: a repeat would be a second charge, so it has a connection of its own and is
    // never sent again.
    pawl::Outcome<Charge, Declined> charge_once(pawl::Call& call, const ChargeOrder& order);
    pawl::Outcome<Refund, RefundRefused> refund(pawl::KeyedCall& call, const RefundOrder& order);

    // For `reconcile`, outside any request. Throw std::runtime_error with the provider's message.
    ChargePage list_charges(const ChargeQuery& query);
    std::optional<BookedCharge> find_charge(const std::string& id);

private:
    pawl::Answered get(const std::string& path);

    std::string target_;
    pawl::Client client_;
};

}  // namespace rides
