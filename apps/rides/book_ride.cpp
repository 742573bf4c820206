#include "apps/rides/book_ride.hpp"

#include "apps/rides/receipt.hpp"
#include "apps/rides/stripe_events.hpp"
#include "rides/statements.hpp"

#include <array>

namespace rides {

namespace {

// Every flight costs 20 dollars while this is a prototype.
constexpr std::int64_t fare = 20'00;
constexpr std::string_view fare_currency = "usd";

struct Booked {
    RideId ride{};
    std::string charge;
    std::int64_t amount{};
    std::string currency;
    std::string message;
};

// Contains no value that a restored database gives anew, such as the ride's id: the repeat of a
// lost request sends the same call key, so its body must be the same too. A point without a
// reference was stored by an older binary, which may have sent its description already.
ChargeOrder order_for(const BookRide::RideCreated& at) {
    return {
        at.amount,
        at.currency,
        at.customer,
        at.reference ? std::string{charge_description} + *at.reference
                     : "Charge for ride " + std::to_string(at.ride.value)};
}

Finish refused(Tx& tx, RideId ride, const Declined& declined) {
    pawl::send(tx, sql::set_state, ride, "refused");
    return pawl::answer(problem(402, "The payment was declined", declined.message));
}

}  // namespace

std::optional<std::string> RideRequest::problem() const {
    struct Bound {
        std::string_view name;
        double value;
        double most;
    };
    const std::array<Bound, 4> bounds{
        {{"origin_lat", origin_lat, 90},
         {"origin_lon", origin_lon, 180},
         {"target_lat", target_lat, 90},
         {"target_lon", target_lon, 180}}};
    for (const auto& bound : bounds) {
        if (bound.value >= -bound.most && bound.value <= bound.most) continue;
        const auto most = std::to_string(static_cast<int>(bound.most));
        return std::string{bound.name} + ": Must be from -" + most + " to " + most + ".";
    }
    return std::nullopt;
}

Next<BookRide::CustomerMissing, BookRide::RideCreated> BookRide::create_ride(
    Tx& tx, const Started& at
) {
    auto user = user_of(tx, at.principal);
    const auto& r = at.request;
    const auto ride = pawl::query_one<RideId>(
        tx,
        sql::insert_ride,
        tx.now(),
        at.key_id,
        r.origin_lat,
        r.origin_lon,
        r.target_lat,
        r.target_lon,
        fare,
        fare_currency,
        at.principal.tenant,
        user.id
    );
    tx.reference("ride", ride.value);
    record(tx, {"created", ride.value, "ride", pawl::to_json(r)}, user.id, at.origin);
    if (!user.stripe_customer_id)
        return CustomerMissing{
            .ride = ride,
            .user = user.id,
            .amount = fare,
            .currency = std::string{fare_currency},
            .email = at.principal.account,
            .reference = at.key,
            .source = source_};
    return RideCreated{
        .ride = ride,
        .user = user.id,
        .amount = fare,
        .currency = std::string{fare_currency},
        .customer = std::move(*user.stripe_customer_id),
        .email = at.principal.account,
        .reference = at.key};
}

Outcome<Customer, Declined> BookRide::make_customer(Call& call, const CustomerMissing& at) {
    return stripe_.make_customer(call, {at.email, at.source});
}

// Another ride of this rider may have stored a customer in the meantime: that one is charged.
Next<BookRide::RideCreated> BookRide::keep_customer(
    Tx& tx, const CustomerMissing& at, const Customer& customer
) {
    auto stored = pawl::query_one<std::string>(tx, sql::keep_customer, at.user, customer.id);
    tx.reference("customer", stored);
    return RideCreated{
        .ride = at.ride,
        .user = at.user,
        .amount = at.amount,
        .currency = at.currency,
        .customer = std::move(stored),
        .email = at.email,
        .reference = at.reference};
}

Finish BookRide::refuse_card(Tx& tx, const CustomerMissing& at, const Declined& declined) {
    return refused(tx, at.ride, declined);
}

Outcome<Charge, Declined> BookRide::charge_card(KeyedCall& call, const RideCreated& at) {
    return stripe_.charge(call, order_for(at));
}

Outcome<Charge, Declined> BookRide::charge_card_once(Call& call, const RideCreated& at) {
    return stripe_.charge_once(call, order_for(at));
}

Next<BookRide::ChargeCreated> BookRide::keep_charge(
    Tx& tx, const RideCreated& at, const Charge& charge
) {
    pawl::send(tx, sql::set_charge, at.ride, charge.id);
    tx.reference("charge", charge.id);
    return ChargeCreated{at.ride, at.user, at.amount, at.currency, at.email, charge.id};
}

Finish BookRide::refuse_ride(Tx& tx, const RideCreated& at, const Declined& declined) {
    return refused(tx, at.ride, declined);
}

Finish BookRide::finish_ride(Tx& tx, const ChargeCreated& at) {
    tx.stage(SendReceipt{at.ride, at.amount, at.currency, at.email}
    );  // Workers see it only after this commits.
    tx.stage(AddPoints{at.user, at.amount / 100});
    auto response = pawl::respond(
        201, Booked{at.ride, at.charge, at.amount, at.currency, "Paid. Your rocket is on its way."}
    );
    response.headers.push_back({"Location", "/rides/" + std::to_string(at.ride.value)});
    return pawl::answer(response);
}

Finish BookRide::abandon(Tx& tx, const RideCreated& at, const Abandoned& why) {
    pawl::send(tx, sql::set_state, at.ride, "given_up");
    return pawl::answer(problem(
        422,
        "The ride was given up",
        why.called_at
            ? "An operator gave this request up; there is no ride. Your card may have been "
              "charged for it: ask our support before you book again."
            : "An operator gave this request up; there is no ride, and your card was not "
              "charged."
    ));
}

// The call from this point charges nothing.
Finish BookRide::abandon(Tx& tx, const CustomerMissing& at, const Abandoned&) {
    pawl::send(tx, sql::set_state, at.ride, "given_up");
    return pawl::answer(problem(
        422,
        "The ride was given up",
        "An operator gave this request up; there is no ride, and your card was not charged."
    ));
}

std::optional<Charge> BookRide::settled_by(const RideCreated& at, const pawl::ProviderEvent& event)
    const {
    if (event.type != "charge.succeeded") return std::nullopt;
    const auto charge = pawl::from_json<EventCharge>(event.object);
    const auto order = order_for(at);
    if (!charge || charge->amount != order.amount || charge->currency != order.currency ||
        charge->customer != order.customer || charge->description != order.description)
        return std::nullopt;
    return Charge{charge->id};
}

}  // namespace rides
