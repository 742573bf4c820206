#pragma once

#include "apps/rides/book_ride.hpp"
#include "apps/rides/stripe.hpp"
#include "apps/rides/trips.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rides {

/// POST /trips/{id}/pick-up, only with the key `trip-{id}-pick-up`: pays the rest of a trip, asked
/// for by its rider or by support, once. It captures what BookTrip has authorised. If that has
/// expired, it charges the rest anew; if that is declined, it pays the share back, and the answer
/// says so.
class PickUpTrip {
public:
    static constexpr std::string_view name = "pick_up_trip";
    static constexpr pawl::Settings settings{
        .scope = pawl::Scope::tenant,  // The key belongs to the trip.
        .keep = pawl::for_ever,
        .in_progress = pawl::wait(3s)};  // As for RefundRide.
    explicit PickUpTrip(Stripe& stripe) : stripe_{stripe} {}

    struct Request {
        TripId id{};
    };
    using Started = pawl::Started<Request>;
    // What every call of the pick-up needs, fixed before the first.
    struct Payments {
        TripId trip{};
        std::int64_t share{};
        std::string share_charge;
        std::string hold;
        std::int64_t rest{};
        std::string currency;
        std::string customer;
        std::string reference;  // The key of the pick-up.
    };
    struct PickUpStarted {
        static constexpr std::string_view name = "pick_up_started";
        Payments of{};
    };
    struct HoldLost {
        static constexpr std::string_view name = "hold_lost";
        Payments of{};
    };
    struct RestDeclined {
        static constexpr std::string_view name = "rest_declined";
        Payments of{};
        std::string why;  // For the rider.
    };

    std::optional<pawl::Response> before_key(
        pawl::Snapshot& read, const pawl::Asked<Request>& at, std::string_view key
    );
    Next<PickUpStarted, pawl::Refusal> start_pick_up(Tx& tx, const Started& at);
    Outcome<Charge, CaptureRefused> capture_rest(KeyedCall& call, const PickUpStarted& at);
    Finish keep_capture(Tx& tx, const PickUpStarted& at, const Charge& captured);
    Next<HoldLost> lose_hold(Tx& tx, const PickUpStarted& at, const CaptureRefused& refused);
    Outcome<Charge, Declined> charge_rest(KeyedCall& call, const HoldLost& at);
    Finish keep_rest(Tx& tx, const HoldLost& at, const Charge& charge);
    Next<RestDeclined> decline_rest(Tx& tx, const HoldLost& at, const Declined& declined);
    Outcome<Refund, RefundRefused> pay_share_back(Call& call, const RestDeclined& at);
    Finish keep_share_back(Tx& tx, const RestDeclined& at, const Refund& refund);
    Finish keep_share_back_before(Tx& tx, const RestDeclined& at, const RefundRefused& refused);

    Finish abandon(Tx& tx, const PickUpStarted& at, const Abandoned& why);
    Finish abandon(Tx& tx, const HoldLost& at, const Abandoned& why);
    Finish abandon(Tx& tx, const RestDeclined& at, const Abandoned& why);

    std::string call_target(const PickUpStarted&) const { return stripe_.target(); }
    std::string call_target(const HoldLost&) const { return stripe_.target(); }
    std::string call_target(const RestDeclined&) const { return stripe_.target(); }

    using Flow = Steps<
        Atomic<&PickUpTrip::start_pick_up>,  // started -> pick_up_started, or finished (404, 409)
        Foreign<
            Repeat::safe_with_key,
            &PickUpTrip::capture_rest,  // pick_up_started
            &PickUpTrip::keep_capture,  //                 -> finished (201)
            &PickUpTrip::lose_hold>,    //                 -> hold_lost
        Foreign<
            Repeat::safe_with_key,
            &PickUpTrip::charge_rest,    // hold_lost
            &PickUpTrip::keep_rest,      //                 -> finished (201)
            &PickUpTrip::decline_rest>,  //                 -> rest_declined
        Foreign<
            Repeat::safe,
            &PickUpTrip::pay_share_back,            // rest_declined
            &PickUpTrip::keep_share_back,           //                 -> finished (402)
            &PickUpTrip::keep_share_back_before>>;  //                 -> finished (402)

private:
    Stripe& stripe_;
};
static_assert(pawl::Operation<PickUpTrip>);

}  // namespace rides
