#pragma once

#include "apps/rides/book_ride.hpp"
#include "apps/rides/stripe.hpp"
#include "apps/rides/trips.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rides {

/// POST /trips: books a trip with two payments, a share of the fare now and the rest at the pick-up
/// (PickUpTrip). Either both payments are arranged, or neither: if the second is declined, the
/// first is undone by a step of its own. The authorisation comes first, because to void it costs
/// nothing and the rider never sees it, while a refund takes days.
class BookTrip {
public:
    static constexpr std::string_view name = "book_trip";
    // `source`: see BookRide.
    explicit BookTrip(Stripe& stripe, std::optional<std::string> source = {})
        : stripe_{stripe}, source_{std::move(source)} {}

    using Started = pawl::Started<RideRequest>;
    // What every payment of the trip needs, fixed before the first.
    struct Payments {
        TripId trip{};
        std::int64_t share{};
        std::int64_t rest{};
        std::string currency;
        std::string customer;   // Empty until Stripe has made it.
        std::string reference;  // The client's key.
    };
    struct CustomerMissing {
        static constexpr std::string_view name = "customer_missing";
        Payments of{};
        std::int64_t user{};
        std::string email;
        std::optional<std::string> source;
    };
    struct TripCreated {
        static constexpr std::string_view name = "trip_created";
        Payments of{};
    };
    struct RestAuthorised {
        static constexpr std::string_view name = "rest_authorised";
        Payments of{};
        std::string hold;  // The authorised charge.
    };
    struct ShareDeclined {
        static constexpr std::string_view name = "share_declined";
        TripId trip{};
        std::string hold;
        std::string why;  // For the rider.
    };

    Next<CustomerMissing, TripCreated> create_trip(Tx& tx, const Started& at);
    Outcome<Customer, Declined> make_customer(Call& call, const CustomerMissing& at);
    Next<TripCreated> keep_customer(Tx& tx, const CustomerMissing& at, const Customer& customer);
    Finish refuse_card(Tx& tx, const CustomerMissing& at, const Declined& declined);
    Outcome<Charge, Declined> authorise_rest(KeyedCall& call, const TripCreated& at);
    Next<RestAuthorised> keep_hold(Tx& tx, const TripCreated& at, const Charge& hold);
    Finish refuse_trip(Tx& tx, const TripCreated& at, const Declined& declined);
    Outcome<Charge, Declined> charge_share(KeyedCall& call, const RestAuthorised& at);
    Finish keep_share(Tx& tx, const RestAuthorised& at, const Charge& charge);
    Next<ShareDeclined> decline_share(Tx& tx, const RestAuthorised& at, const Declined& declined);
    Outcome<Refund, RefundRefused> void_rest(Call& call, const ShareDeclined& at);
    Finish keep_void(Tx& tx, const ShareDeclined& at, const Refund& voided);
    Finish keep_void_before(Tx& tx, const ShareDeclined& at, const RefundRefused& refused);

    Finish abandon(Tx& tx, const CustomerMissing& at, const Abandoned& why);
    Finish abandon(Tx& tx, const TripCreated& at, const Abandoned& why);
    Finish abandon(Tx& tx, const RestAuthorised& at, const Abandoned& why);
    Finish abandon(Tx& tx, const ShareDeclined& at, const Abandoned& why);

    std::string call_target(const CustomerMissing&) const { return stripe_.target(); }
    std::string call_target(const TripCreated&) const { return stripe_.target(); }
    std::string call_target(const RestAuthorised&) const { return stripe_.target(); }
    std::string call_target(const ShareDeclined&) const { return stripe_.target(); }

    using Flow = Steps<
        Atomic<&BookTrip::create_trip>,  // started -> customer_missing, trip_created
        Foreign<
            Repeat::safe,
            &BookTrip::make_customer,  // customer_missing
            &BookTrip::keep_customer,  //                 -> trip_created
            &BookTrip::refuse_card>,   //                 -> finished (402)
        Foreign<
            Repeat::safe_with_key,
            &BookTrip::authorise_rest,  // trip_created
            &BookTrip::keep_hold,       //                 -> rest_authorised
            &BookTrip::refuse_trip>,    //                 -> finished (402)
        Foreign<
            Repeat::safe_with_key,
            &BookTrip::charge_share,    // rest_authorised
            &BookTrip::keep_share,      //                 -> finished (201)
            &BookTrip::decline_share>,  //                 -> share_declined
        Foreign<
            Repeat::safe,
            &BookTrip::void_rest,           // share_declined
            &BookTrip::keep_void,           //                 -> finished (402)
            &BookTrip::keep_void_before>>;  //                 -> finished (402)

private:
    Stripe& stripe_;
    std::optional<std::string> source_;
};
static_assert(pawl::Operation<BookTrip>);

}  // namespace rides
