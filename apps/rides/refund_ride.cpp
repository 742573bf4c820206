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

// The whole tenant shares the key, and its answer is final. So it must be the ride's own key, used
// only by those who may refund, and not before the ride has a charge or will never have one.
std::optional<pawl::Response> RefundRide::before_key(
    pawl::Snapshot& read, const pawl::Asked<Request>& at, std::string_view key
) {
    const auto state = pawl::query_maybe<std::string>(
        read, sql::find_state_for_refund, at.request.id, at.principal.tenant, at.principal.account
    );
    if (!state) return problem(404, "There is no such ride", "");
    const auto own = "ride-" + std::to_string(at.request.id.value) + "-refund";
    if (key != own)
        return problem(
            422, "The key is not the key of this refund", "The Idempotency-Key must be " + own + "."
        );
    if (*state == "booking")
        return passing_problem(
            409, "The ride is being booked", "It can be refunded once it is booked."
        );
    return std::nullopt;
}

// before_key() has checked the caller.
pawl::Next<RefundRide::RefundOrdered, pawl::Refusal> RefundRide::order_refund(
    pawl::Tx& tx, const Started& at
) {
    const auto ride = pawl::query_maybe<RideToRefund>(tx, sql::show_ride_for_refund, at.request.id);
    if (!ride) return pawl::refuse(problem(404, "There is no such ride", ""));
    if (!ride->charge)
        return pawl::refuse(
            problem(409, "The ride was not charged", "Its state is " + ride->state + ".")
        );
    if (ride->state == "refunded")
        return pawl::refuse(
            problem(409, "The ride was refunded", "It was refunded under another key.")
        );
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
    return pawl::answer(201, Refunded{at.ride, refund.id, at.amount, at.currency});
}

pawl::Finish RefundRide::keep_refusal(
    pawl::Tx&, const RefundOrdered&, const RefundRefused& refused
) {
    return pawl::answer(problem(409, "The refund was refused", refused.message));
}

pawl::Finish RefundRide::abandon(pawl::Tx&, const RefundOrdered&, const pawl::Abandoned& why) {
    return pawl::answer(problem(
        422,
        "The refund was given up",
        why.called_at ? "An operator gave this refund up. The money may have been paid back: check "
                        "your account, then ask our support."
                      : "An operator gave this refund up; nothing was paid back."
    ));
}

}  // namespace rides
