#include "apps/rides/pick_up_trip.hpp"

#include "rides/statements.hpp"

#include <utility>

namespace rides {

namespace {

struct TripToPay {
    std::string state;
    std::int64_t share{};
    std::optional<std::string> share_charge;
    std::optional<std::string> hold;
    std::int64_t rest{};
    std::string currency;
    std::optional<std::string> customer;
};

struct PickedUp {
    TripId trip{};
    std::string charge;  // Of the rest.
    std::int64_t amount{};
    std::string currency;
    std::string message;
};

pawl::Answer paid(Tx& tx, const PickUpTrip::Payments& of, const Charge& charge) {
    pawl::send(tx, sql::set_trip_paid, of.trip, charge.id);
    tx.reference("charge", charge.id);
    return pawl::answer(
        201, PickedUp{of.trip, charge.id, of.rest, of.currency, "Paid. Have a good flight."}
    );
}

pawl::Answer not_paid(Tx& tx, const PickUpTrip::RestDeclined& at) {
    pawl::send(tx, sql::set_trip_state, at.of.trip, "not_paid");
    return pawl::answer(problem(
        402,
        "The rest of the fare was declined",
        at.why + " There is no trip, and your share is paid back: " + std::to_string(at.of.share) +
            " " + at.of.currency + "."
    ));
}

pawl::Answer given_up(Tx& tx, const PickUpTrip::Payments& of, const std::string& money) {
    pawl::send(tx, sql::set_trip_state, of.trip, "given_up");
    return pawl::answer(problem(
        422,
        "The pick-up was given up",
        "An operator gave this request up; there is no trip. " + money
    ));
}

constexpr const char* share_comes_back = "Your share is paid back, and no more is charged.";
constexpr const char* ask_support =
    "Your card may have been charged for the rest of the fare: ask our support, also for your "
    "share.";

}  // namespace

std::optional<pawl::Response> PickUpTrip::before_key(
    pawl::Snapshot& read, const pawl::Asked<Request>& at, std::string_view key
) {
    const auto state = pawl::query_maybe<std::string>(
        read, sql::find_state_of_trip, at.request.id, at.principal.tenant, at.principal.account
    );
    if (!state) return problem(404, "There is no such trip", "");
    const auto own = "trip-" + std::to_string(at.request.id.value) + "-pick-up";
    if (key != own)
        return problem(
            422,
            "The key is not the key of this pick-up",
            "The Idempotency-Key must be " + own + "."
        );
    if (*state == "booking")
        return passing_problem(
            409, "The trip is being booked", "It can be picked up once it is booked."
        );
    return std::nullopt;
}

// before_key() has checked the caller.
Next<PickUpTrip::PickUpStarted, pawl::Refusal> PickUpTrip::start_pick_up(
    Tx& tx, const Started& at
) {
    auto trip = pawl::query_maybe<TripToPay>(tx, sql::show_trip_for_pick_up, at.request.id);
    if (!trip) return pawl::refuse(problem(404, "There is no such trip", ""));
    const bool booked = trip->share_charge && trip->hold && trip->customer;
    if (!booked || pawl::execute(tx, sql::start_pick_up, at.request.id) == 0)
        return pawl::refuse(
            problem(409, "The trip can't be picked up", "Its state is " + trip->state + ".")
        );
    const auto asker = user_of(tx, at.principal);
    tx.reference("trip", at.request.id.value);
    record(tx, {"pick_up_started", at.request.id.value, "trip"}, asker.id, at.origin);
    return PickUpStarted{
        {.trip = at.request.id,
         .share = trip->share,
         .share_charge = std::move(*trip->share_charge),
         .hold = std::move(*trip->hold),
         .rest = trip->rest,
         .currency = std::move(trip->currency),
         .customer = std::move(*trip->customer),
         .reference = at.key}};
}

Outcome<Charge, CaptureRefused> PickUpTrip::capture_rest(KeyedCall& call, const PickUpStarted& at) {
    return stripe_.capture(call, {at.of.hold, at.of.rest});
}

Finish PickUpTrip::keep_capture(Tx& tx, const PickUpStarted& at, const Charge& captured) {
    return paid(tx, at.of, captured);
}

Next<PickUpTrip::HoldLost>
PickUpTrip::lose_hold(Tx&, const PickUpStarted& at, const CaptureRefused&) {
    return HoldLost{at.of};
}

Outcome<Charge, Declined> PickUpTrip::charge_rest(KeyedCall& call, const HoldLost& at) {
    return stripe_.charge(
        call,
        {at.of.rest,
         at.of.currency,
         at.of.customer,
         std::string{trip_description} + at.of.reference}
    );
}

Finish PickUpTrip::keep_rest(Tx& tx, const HoldLost& at, const Charge& charge) {
    return paid(tx, at.of, charge);
}

// Not the end yet: the share is still with us.
Next<PickUpTrip::RestDeclined> PickUpTrip::decline_rest(
    Tx&, const HoldLost& at, const Declined& declined
) {
    return RestDeclined{at.of, declined.message};
}

Outcome<Refund, RefundRefused> PickUpTrip::pay_share_back(Call& call, const RestDeclined& at) {
    return stripe_.pay_back(call, at.of.share_charge);
}

Finish PickUpTrip::keep_share_back(Tx& tx, const RestDeclined& at, const Refund&) {
    return not_paid(tx, at);
}

// By an earlier try whose key Stripe has forgotten, or by Stripe's dashboard.
Finish PickUpTrip::keep_share_back_before(Tx& tx, const RestDeclined& at, const RefundRefused&) {
    return not_paid(tx, at);
}

// A capture in doubt is not undone: a person must ask Stripe first, and settles the request.
Finish PickUpTrip::abandon(Tx& tx, const PickUpStarted& at, const Abandoned& why) {
    if (why.called_at) return given_up(tx, at.of, ask_support);
    tx.stage(PayBack{at.of.hold});
    tx.stage(PayBack{at.of.share_charge});
    return given_up(tx, at.of, share_comes_back);
}

Finish PickUpTrip::abandon(Tx& tx, const HoldLost& at, const Abandoned& why) {
    if (why.called_at) return given_up(tx, at.of, ask_support);
    tx.stage(PayBack{at.of.share_charge});
    return given_up(tx, at.of, share_comes_back);
}

Finish PickUpTrip::abandon(Tx& tx, const RestDeclined& at, const Abandoned&) {
    tx.stage(PayBack{at.of.share_charge});
    return given_up(tx, at.of, share_comes_back);
}

}  // namespace rides
