#include "apps/rides/refund_ride.hpp"

#include "rides/statements.hpp"

#include <algorithm>

namespace rides {

namespace {

struct RideToRefund {
    std::string state;
    std::optional<std::string> charge;
    std::int64_t amount{};
    std::string currency;
    std::int64_t refunded{};  // Or may be.
    // A refund by a server without the table of refunds was of the whole amount, and has no row.
    std::int64_t left() const { return state == "refunded" ? 0 : amount - refunded; }
};

struct Refunded {
    RideId ride{};
    std::string refund;
    std::int64_t amount{};
    std::string currency;
};

std::string key_of(RideId ride) {
    return "ride-" + std::to_string(ride.value) + "-refund";
}

// 1, 2, ... as a caller counts: no sign, no leading zero.
bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= 9 && text.front() != '0' &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// nullopt: `key` is a key of this refund.
std::optional<pawl::Response> wrong_key(const RefundRide::Request& request, std::string_view key) {
    const auto whole = key_of(request.id);
    const auto part = whole + '-';
    if (!request.amount && key == whole) return std::nullopt;
    if (request.amount && key.starts_with(part) && is_number(key.substr(part.size())))
        return std::nullopt;
    return problem(
        422,
        "The key is not the key of this refund",
        "The Idempotency-Key must be " + whole +
            (request.amount ? "-N, where N is the number of this refund: 1, 2, and so on." : ".")
    );
}

// A ride may have been charged elsewhere (BookRideRouted). Stripe's charges are ch_... or py_...
bool is_of_stripe(std::string_view charge) {
    return charge.starts_with("ch_") || charge.starts_with("py_");
}

pawl::Refusal refuse_amount(std::int64_t asked, const RideToRefund& ride) {
    return pawl::refuse(problem(
        409,
        "The amount is more than what is left",
        std::to_string(asked) + " " + ride.currency + " can't be refunded: of " +
            std::to_string(ride.amount) + ", " + std::to_string(ride.left()) + " are left."
    ));
}

}  // namespace

std::optional<std::string> RefundRide::Request::problem() const {
    if (amount && *amount < 1) return "amount: Must be 1 or more.";
    return std::nullopt;
}

// The whole tenant shares the key, and its answer is final. So it must be the ride's own key, used
// only by those who may refund, and not before the ride has a charge or will never have one.
std::optional<pawl::Response> RefundRide::before_key(
    pawl::Snapshot& read, const pawl::Asked<Request>& at, std::string_view key
) {
    const auto state = pawl::query_maybe<std::string>(
        read, sql::find_state_for_refund, at.request.id, at.principal.tenant, at.principal.account
    );
    if (!state) return problem(404, "There is no such ride", "");
    if (auto wrong = wrong_key(at.request, key)) return wrong;
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
    if (!is_of_stripe(*ride->charge))
        return pawl::refuse(problem(
            409,
            "The ride was charged at another provider",
            "It is refunded there; its charge is " + *ride->charge + "."
        ));
    const auto left = ride->left();
    const auto amount = at.request.amount.value_or(left);
    if (amount > left) return refuse_amount(amount, *ride);
    if (amount == 0)
        return pawl::refuse(
            problem(409, "The ride was refunded", "It was refunded under another key.")
        );
    const auto asker = user_of(tx, at.principal);
    record(tx, {"refund_ordered", at.request.id.value, "ride"}, asker.id, at.origin);
    tx.reference("ride", at.request.id.value);
    tx.reference("charge", *ride->charge);
    pawl::send(tx, sql::insert_refund, at.request.id, at.key, tx.now(), amount);
    return RefundOrdered{at.request.id, *ride->charge, amount, ride->currency, at.key};
}

pawl::Outcome<Refund, RefundRefused> RefundRide::refund_charge(
    pawl::KeyedCall& call, const RefundOrdered& at
) {
    return stripe_.refund(call, {at.charge, at.amount});
}

pawl::Finish RefundRide::keep_refund(pawl::Tx& tx, const RefundOrdered& at, const Refund& refund) {
    const auto key = at.key.value_or(key_of(at.ride));
    pawl::send(tx, sql::keep_refund, at.ride, key, tx.now(), at.amount, refund.id);
    pawl::send(tx, sql::set_refunded, at.ride, refund.id);
    tx.reference("refund", refund.id);
    return pawl::answer(201, Refunded{at.ride, refund.id, at.amount, at.currency});
}

// Stripe refuses only what it has not done under this call key.
pawl::Finish RefundRide::keep_refusal(
    pawl::Tx& tx, const RefundOrdered& at, const RefundRefused& refused
) {
    pawl::send(tx, sql::set_refund_state, at.ride, at.key, "not_made");
    return pawl::answer(problem(409, "The refund was refused", refused.message));
}

pawl::Finish RefundRide::abandon(
    pawl::Tx& tx, const RefundOrdered& at, const pawl::Abandoned& why
) {
    pawl::send(tx, sql::set_refund_state, at.ride, at.key, why.called_at ? "in_doubt" : "not_made");
    return pawl::answer(problem(
        422,
        "The refund was given up",
        why.called_at ? "An operator gave this refund up. The money may have been paid back: check "
                        "your account, then ask our support."
                      : "An operator gave this refund up; nothing was paid back."
    ));
}

}  // namespace rides
