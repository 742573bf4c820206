#pragma once

#include <pawl/provider_event.hpp>

#include "apps/rides/rides.hpp"
#include "apps/rides/stripe.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rides {

using pawl::Abandoned, pawl::Atomic, pawl::Call, pawl::Finish, pawl::Foreign, pawl::KeyedCall,
    pawl::Next, pawl::Outcome, pawl::Repeat, pawl::Steps, pawl::Tx;
using namespace std::chrono_literals;

// Precedes the client's key in a charge's description: it finds the request of a charge whose
// record is missing here.
inline constexpr std::string_view charge_description = "Rocket ride, request ";

struct RideRequest {
    double origin_lat{};
    double origin_lon{};
    double target_lat{};
    double target_lon{};
    std::optional<std::string> problem() const;
};

/// POST /rides: books a ride, charges the card, mails a receipt. Safe to repeat under one key.
class BookRide {
public:
    static constexpr std::string_view name = "book_ride";
    static constexpr pawl::Settings settings{
        .provider_key_lifetime = 20h};  // Stripe forgets keys after 24 h.
    // `source`: the payment source of customers that it makes; nullopt: they have none yet.
    explicit BookRide(Stripe& stripe, std::optional<std::string> source = {})
        : stripe_{stripe}, source_{std::move(source)} {}

    // Recovery points. The database stores each `name` and its fields: never change or reuse a
    // released one.
    using Started = pawl::Started<RideRequest>;
    struct CustomerMissing {
        static constexpr std::string_view name = "customer_missing";
        RideId ride{};
        std::int64_t user{};
        std::int64_t amount{};
        std::string currency;
        std::string email;
        std::string reference;              // The client's key.
        std::optional<std::string> source;  // Stored here, so that every repeat sends the same.
    };
    struct RideCreated {
        static constexpr std::string_view name = "ride_created";
        RideId ride{};
        std::int64_t user{};
        std::int64_t amount{};  // Stored here, so that every repeat of the charge sends the same.
        std::string currency;
        std::string customer;
        std::string email;
        // The client's key. Points stored before this field existed have none.
        std::optional<std::string> reference{};
    };
    struct ChargeCreated {
        static constexpr std::string_view name = "charge_created";
        RideId ride{};
        std::int64_t user{};
        std::int64_t amount{};
        std::string currency;
        std::string email;
        std::string charge;
    };

    // A Tx gives access to our data, a Call to other systems. No step has both.
    Next<CustomerMissing, RideCreated> create_ride(Tx& tx, const Started& at);
    Outcome<Customer, Declined> make_customer(Call& call, const CustomerMissing& at);
    Next<RideCreated> keep_customer(Tx& tx, const CustomerMissing& at, const Customer& customer);
    Finish refuse_card(Tx& tx, const CustomerMissing& at, const Declined& declined);
    Outcome<Charge, Declined> charge_card(KeyedCall& call, const RideCreated& at);
    Outcome<Charge, Declined> charge_card_once(
        Call& call, const RideCreated& at
    );  // For BookRideChargedOnce.
    Next<ChargeCreated> keep_charge(Tx& tx, const RideCreated& at, const Charge& charge);
    Finish refuse_ride(Tx& tx, const RideCreated& at, const Declined& declined);
    Finish finish_ride(Tx& tx, const ChargeCreated& at);
    // An operator gave the request up. The charge may have been made, if `why` says so.
    Finish abandon(Tx& tx, const RideCreated& at, const Abandoned& why);
    Finish abandon(Tx& tx, const CustomerMissing& at, const Abandoned& why);

    std::string call_target(const RideCreated&) const { return stripe_.target(); }
    std::string call_target(const CustomerMissing&) const { return stripe_.target(); }
    // A charge.succeeded of exactly this order.
    std::optional<Charge> settled_by(const RideCreated& at, const pawl::ProviderEvent& event) const;

    // A rider's first ride makes its customer at Stripe. Repeat::safe in every flow: two customers
    // of one rider cost nothing, and only the stored one is ever charged.
    using MakeCustomer = Foreign<
        Repeat::safe,
        &BookRide::make_customer,
        &BookRide::keep_customer,
        &BookRide::refuse_card>;
    using Flow = Steps<
        Atomic<&BookRide::create_ride>,  // started          -> customer_missing, ride_created
        MakeCustomer,                    // customer_missing -> ride_created, finished (402)
        Foreign<
            Repeat::safe_with_key,
            &BookRide::charge_card,       // ride_created
            &BookRide::keep_charge,       //                  -> charge_created
            &BookRide::refuse_ride>,      //                  -> finished (402)
        Atomic<&BookRide::finish_ride>>;  // charge_created   -> finished (201)

private:
    Stripe& stripe_;
    std::optional<std::string> source_;
};
static_assert(pawl::Operation<BookRide>);

/// The same for a payment provider without idempotency keys: a charge is sent at most once, and if
/// its answer did not come, the request waits on the attention list. A subclass may have its own
/// Flow over the same steps.
class BookRideChargedOnce : public BookRide {
public:
    using BookRide::BookRide;
    using Flow = Steps<
        Atomic<&BookRide::create_ride>,
        MakeCustomer,
        Foreign<
            Repeat::never,
            &BookRide::charge_card_once,
            &BookRide::keep_charge,
            &BookRide::refuse_ride>,
        Atomic<&BookRide::finish_ride>>;
};
static_assert(pawl::Operation<BookRideChargedOnce>);

}  // namespace rides
