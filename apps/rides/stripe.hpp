#pragma once

#include <pawl/call.hpp>
#include <pawl/client.hpp>
#include <pawl/query.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rides {

struct Customer {
    std::string id;
};
struct Charge {
    std::string id;
};
struct Declined {
    std::string code;  // "card_declined"
    std::string message;
    std::optional<std::string> decline_code{};  // What the card's bank said: "stolen_card".
};
struct Refund {
    std::string id;
};
struct RefundRefused {
    std::string code;
    std::string message;
};

// A customer's data, taken only from a recovery point, too.
struct CustomerOrder {
    std::string email;
    // The payment source to attach, a token of Stripe: "tok_visa". nullopt: none.
    std::optional<std::string> source{};
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

// An authorised charge is captured, or it has been voided or has expired.
struct CaptureOrder {
    std::string charge;
    std::int64_t amount{};
};
struct CaptureRefused {
    std::string code;  // "charge_expired_for_capture"
    std::string message;
};

// A text of Stripe as every database and index takes it: NUL becomes '?', and it is cut.
std::string storable_text(std::string text);
// nullopt: no time of the years 1970 to 9999, such as milliseconds, which no database holds.
std::optional<pawl::TimePoint> time_of_seconds(double seconds);
// Whether a provider's text can be an id: 1 to 255 visible characters of ASCII.
bool is_provider_id(std::string_view text);
// Of the data that an API key of Stripe reaches. nullopt: the key does not say it.
std::optional<bool> livemode_of(std::string_view api_key);

// A charge as Stripe stores it. Its texts are storable_text().
struct BookedCharge {
    std::string id;
    std::int64_t amount{};
    std::string currency;
    std::string customer;
    std::string description;
    std::int64_t created{};  // Seconds since 1970.
    std::int64_t amount_refunded{};
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
    // The API version that the requests and the reading of the answers were tested with.
    static constexpr std::string_view tested_version{"2026-08-26.dahlia"};
    struct Where {
        std::string url;
        std::string api_key;
        // Stripe's name of the account. Without it, a hash of the API key identifies the account,
        // and another key of the same account counts as another account.
        std::string account{};
        std::string version{tested_version};
    };
    Stripe(Where where, int connections_max);

    // URL and account, never the API key.
    const std::string& target() const { return target_; }

    // Its key is a hash of the order, so that two requests which ask for the same customer at once,
    // or in another order after a restore, get the same one. A second customer would cost nothing.
    pawl::Outcome<Customer, Declined> make_customer(pawl::Call& call, const CustomerOrder& order);
    pawl::Outcome<Charge, Declined> charge(pawl::KeyedCall& call, const ChargeOrder& order);
    // Without a key: a repeat would be a second charge, so it has a connection of its own and is
    // never sent again.
    pawl::Outcome<Charge, Declined> charge_once(pawl::Call& call, const ChargeOrder& order);
    pawl::Outcome<Refund, RefundRefused> refund(pawl::KeyedCall& call, const RefundOrder& order);

    // Holds the amount on the card, to be captured within the card's time (7 days for most).
    pawl::Outcome<Charge, Declined> authorise(pawl::KeyedCall& call, const ChargeOrder& order);
    pawl::Outcome<Charge, CaptureRefused> capture(pawl::KeyedCall& call, const CaptureOrder& order);
    // Voids an authorised charge, and refunds all that is left of a captured one. Its key is made
    // from the charge; a repeat after Stripe has forgotten the key is refused, and does no harm.
    pawl::Outcome<Refund, RefundRefused> pay_back(pawl::Call& call, const std::string& charge);

    // For `reconcile`, outside any request. Throw std::runtime_error with the provider's message.
    ChargePage list_charges(const ChargeQuery& query);
    std::optional<BookedCharge> find_charge(const std::string& id);

private:
    pawl::Answered get(const std::string& path);

    std::string target_;
    std::optional<bool> livemode_;
    pawl::Client client_;
};

}  // namespace rides
