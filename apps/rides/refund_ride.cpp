#include "apps/rides/refund_ride.hpp"

#include "rides/statements.hpp"

namespace rides {

namespace {

struct RideToRefund {
    std::int64_t user{};
    std::string state;
    std::optional<std::string> charge;
    std::int64_t amount{};
    std::string currency;
};

struct Refunded {
    RideId ride{};
    std::string refund;
    std::int64_t amount{};
    std::string currency;
};

}  // namespace

pawl::Next<RefundRide::RefundOrdered> RefundRide::order_refund(pawl::Tx& tx, const Started& at) {
    const auto ride = pawl::query_maybe<RideToRefund>(tx, sql::show_ride_for_refund, at.request.id);
    if (!ride) return problem(404, "There is no such ride", "");
    if (!ride->charge)
        return problem(409, "The ride was not charged", "Its state is " + ride->state + ".");
    if (ride->state == "refunded")
        return problem(409, "The ride was refunded", "It was refunded under another key.");
    const auto asker = user_of(tx, at.principal);
    record(tx, {"refund_ordered", at.request.id.value, "ride"}, asker.id, at.origin);
    return RefundOrdered{at.request.id, *ride->charge, ride->amount, ride->currency};
}

pawl::Outcome<Refund, RefundRefused> RefundRide::refund_charge(
    pawl::KeyedCall& call, const RefundOrdered& at
) {
    return stripe_.refund(call, {at.charge, at.amount});
}

pawl::Finish RefundRide::keep_refund(pawl::Tx& tx, const RefundOrdered& at, const Refund& refund) {
    pawl::send(tx, sql::set_refund, at.ride, refund.id);
    return pawl::respond(201, Refunded{at.ride, refund.id, at.amount, at.currency});
}

pawl::Finish RefundRide::keep_refusal(
    pawl::Tx&, const RefundOrdered&, const RefundRefused& refused
) {
    return problem(409, "The refund was refused", refused.message);
}

}  // namespace rides
