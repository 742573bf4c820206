#include "apps/rides/book_trip.hpp"

#include "rides/statements.hpp"

namespace rides {

namespace {

// A quarter of the fare of a ride.
constexpr std::int64_t share_now = 5'00;
constexpr std::int64_t rest_later = 15'00;
constexpr std::string_view trip_currency = "usd";

struct TripBooked {
    TripId trip{};
    std::string charge;  // Of the share.
    std::int64_t amount{};
    std::int64_t rest{};
    std::string currency;
    std::string message;
};

ChargeOrder order_for(const BookTrip::Payments& of, std::int64_t amount) {
    return {amount, of.currency, of.customer, std::string{trip_description} + of.reference};
}

pawl::Answer declined(Tx& tx, TripId trip, const std::string& why) {
    pawl::send(tx, sql::set_trip_state, trip, "refused");
    return pawl::answer(problem(402, "The payment was declined", why));
}

pawl::Answer given_up(Tx& tx, TripId trip, const std::string& money) {
    pawl::send(tx, sql::set_trip_state, trip, "given_up");
    return pawl::answer(problem(
        422, "The trip was given up", "An operator gave this request up; there is no trip. " + money
    ));
}

constexpr const char* nothing_charged = "Your card was not charged.";

}  // namespace

Next<BookTrip::CustomerMissing, BookTrip::TripCreated> BookTrip::create_trip(
    Tx& tx, const Started& at
) {
    const auto user = user_of(tx, at.principal);
    const auto& r = at.request;
    const auto trip = pawl::query_one<TripId>(
        tx,
        sql::insert_trip,
        tx.now(),
        at.key_id,
        r.origin_lat,
        r.origin_lon,
        r.target_lat,
        r.target_lon,
        share_now,
        rest_later,
        trip_currency,
        at.principal.tenant,
        user.id
    );
    tx.reference("trip", trip.value);
    record(tx, {"created", trip.value, "trip", pawl::to_json(r)}, user.id, at.origin);
    Payments of{
        .trip = trip,
        .share = share_now,
        .rest = rest_later,
        .currency = std::string{trip_currency},
        .customer = user.stripe_customer_id.value_or(""),
        .reference = at.key};
    if (user.stripe_customer_id) return TripCreated{std::move(of)};
    return CustomerMissing{std::move(of), user.id, at.principal.account, source_};
}

Outcome<Customer, Declined> BookTrip::make_customer(Call& call, const CustomerMissing& at) {
    return stripe_.make_customer(call, {at.email, at.source});
}

// Another request of this rider may have stored a customer in the meantime: that one is charged.
Next<BookTrip::TripCreated> BookTrip::keep_customer(
    Tx& tx, const CustomerMissing& at, const Customer& customer
) {
    auto of = at.of;
    of.customer = pawl::query_one<std::string>(tx, sql::keep_customer, at.user, customer.id);
    return TripCreated{std::move(of)};
}

Finish BookTrip::refuse_card(Tx& tx, const CustomerMissing& at, const Declined& why) {
    return declined(tx, at.of.trip, why.message);
}

Outcome<Charge, Declined> BookTrip::authorise_rest(KeyedCall& call, const TripCreated& at) {
    return stripe_.authorise(call, order_for(at.of, at.of.rest));
}

Next<BookTrip::RestAuthorised> BookTrip::keep_hold(
    Tx& tx, const TripCreated& at, const Charge& hold
) {
    pawl::send(tx, sql::set_trip_hold, at.of.trip, hold.id);
    tx.reference("charge", hold.id);
    return RestAuthorised{at.of, hold.id};
}

Finish BookTrip::refuse_trip(Tx& tx, const TripCreated& at, const Declined& why) {
    return declined(tx, at.of.trip, why.message);
}

Outcome<Charge, Declined> BookTrip::charge_share(KeyedCall& call, const RestAuthorised& at) {
    return stripe_.charge(call, order_for(at.of, at.of.share));
}

Finish BookTrip::keep_share(Tx& tx, const RestAuthorised& at, const Charge& charge) {
    const auto& of = at.of;
    pawl::send(tx, sql::set_trip_share, of.trip, charge.id);
    tx.reference("charge", charge.id);
    auto response = pawl::respond(
        201,
        TripBooked{
            of.trip,
            charge.id,
            of.share,
            of.rest,
            of.currency,
            "Your share is paid. The rest is held on your card until your pick-up."}
    );
    response.headers.push_back({"Location", "/trips/" + std::to_string(of.trip.value)});
    return pawl::answer(response);
}

// Not the end yet: the rest is still held on the card.
Next<BookTrip::ShareDeclined> BookTrip::decline_share(
    Tx&, const RestAuthorised& at, const Declined& why
) {
    return ShareDeclined{at.of.trip, at.hold, why.message};
}

Outcome<Refund, RefundRefused> BookTrip::void_rest(Call& call, const ShareDeclined& at) {
    return stripe_.pay_back(call, at.hold);
}

Finish BookTrip::keep_void(Tx& tx, const ShareDeclined& at, const Refund&) {
    return declined(tx, at.trip, at.why);
}

// It has expired, or was voided by an earlier try whose key Stripe has forgotten.
Finish BookTrip::keep_void_before(Tx& tx, const ShareDeclined& at, const RefundRefused&) {
    return declined(tx, at.trip, at.why);
}

// What was called from this point charges nothing.
Finish BookTrip::abandon(Tx& tx, const CustomerMissing& at, const Abandoned&) {
    return given_up(tx, at.of.trip, nothing_charged);
}

// The id of an authorisation in doubt is unknown, so it can't be voided.
Finish BookTrip::abandon(Tx& tx, const TripCreated& at, const Abandoned& why) {
    return given_up(
        tx,
        at.of.trip,
        why.called_at ? "Your card was not charged. An amount may be held on it for some days."
                      : nothing_charged
    );
}

Finish BookTrip::abandon(Tx& tx, const RestAuthorised& at, const Abandoned& why) {
    tx.stage(PayBack{at.hold});
    return given_up(
        tx,
        at.of.trip,
        why.called_at ? "Your card may have been charged for your share: ask our support before "
                        "you book again."
                      : nothing_charged
    );
}

Finish BookTrip::abandon(Tx& tx, const ShareDeclined& at, const Abandoned&) {
    tx.stage(PayBack{at.hold});
    return given_up(tx, at.trip, nothing_charged);
}

}  // namespace rides
