#include "apps/standins/provider_bank.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <string>
#include <string_view>
#include <utility>

// Authorised charges (capture=false), as Stripe has them: captured once, wholly or in part; or
// voided, by a refund; or expired, after which Stripe shows them as refunded.
//
//   open -> captured | voided | expired
namespace rides {

namespace json = boost::json;

namespace {

std::string customer_of(const json::object& charge) {
    return std::string{charge.at("customer").as_string()};
}

}  // namespace

bool Bank::is_open_hold(const std::string& charge) const {
    const auto at = holds_.find(charge);
    return at != holds_.end() && at->second.state == HoldState::open;
}

std::int64_t Bank::left_of(const Booked& charge) const {
    const auto at = holds_.find(charge.id);
    const auto refunded = refunded_.find(charge.id);
    const auto back = refunded == refunded_.end() ? 0 : refunded->second;
    if (at == holds_.end() || at->second.state == HoldState::open) return charge.amount - back;
    return at->second.captured - back;
}

Bank::Outcome Bank::capture(const BankRequest& request, const Faults& faults, pawl::TimePoint now) {
    constexpr std::string_view before = "/v1/charges/";
    constexpr std::string_view after = "/capture";
    const auto id =
        request.path.substr(before.size(), request.path.size() - before.size() - after.size());
    const auto found = booked_.find(id);
    if (found == booked_.end() || found->second.kind != "charge")
        return {no_such("charge", id, "charge"), false};
    const auto& charge = found->second;
    const auto refuse = [](std::string_view code, std::string_view message) {
        return StripeProblem{
            .status = 400, .type = wrong_request, .code = code, .message = message};
    };
    const auto late = refuse(
        "charge_expired_for_capture",
        "The charge's authorization has expired: it can't be captured."
    );
    if (auto over = expired(charge, late, faults, now)) return std::move(*over);
    const auto hold = holds_.find(id);
    if (hold != holds_.end() && hold->second.state == HoldState::voided)
        return remembered(refuse("charge_already_refunded", "The charge has already been refunded.")
        );
    if (!is_open_hold(id))
        return remembered(refuse("charge_already_captured", "The charge has already been captured.")
        );
    const auto given = bank_field(request, "amount");
    const auto amount = given.empty() ? charge.amount : bank_number(given).value_or(0);
    if (amount < 1 || amount > charge.amount) return {no_whole_number("amount", given), false};
    return book_on(charge, {"capture", id, {}, amount, id}, try_of(request));
}

// A capture, a void or a refund of the charge. The faults of its customer apply as to a charge.
Bank::Outcome Bank::book_on(const Booked& charge, Booked change, int tries) {
    const auto customer = customer_of(json::parse(charge.body).as_object());
    if (auto passing = fault_before(customer, tries)) return std::move(*passing);
    keep(change);
    if (change.kind == "capture") change.body = json::serialize(as_it_is(charge));
    Outcome outcome;
    outcome.answer.body = change.body;
    outcome.booked = std::move(change);
    spoil(outcome, customer, tries);
    return outcome;
}

// `problem` if the hold is over by time. The first answer that says so writes it into the ledger.
std::optional<Bank::Outcome> Bank::expired(
    const Booked& charge, const StripeProblem& problem, const Faults& faults, pawl::TimePoint now
) {
    const auto hold = holds_.find(charge.id);
    if (hold == holds_.end()) return std::nullopt;
    if (hold->second.state == HoldState::expired) return remembered(problem);
    const auto created = json::parse(charge.body).as_object().at("created").as_int64();
    const auto ends = pawl::TimePoint{std::chrono::seconds{created}} + faults.hold_lifetime;
    if (hold->second.state != HoldState::open || now < ends) return std::nullopt;
    const Booked end{"expired", charge.id, {}, charge.amount, charge.id};
    keep(end);
    return Outcome{stripe_error(problem), true, end};
}

void Bank::keep_end_of_hold(Booked end) {
    auto& hold = holds_[end.charge];
    if (end.kind == "capture") {
        hold = {HoldState::captured, end.amount};
    } else if (end.kind == "expired") {
        hold.state = HoldState::expired;
    } else {
        hold.state = HoldState::voided;
        end.kind = "refund";  // Stripe shows a void as a refund.
        booked_[end.id] = std::move(end);
    }
}

void Bank::show_hold(const Booked& charge, json_object& object) const {
    const auto& hold = holds_.at(charge.id);
    object["captured"] = hold.state == HoldState::captured;
    object["amount_captured"] = hold.captured;
    if (hold.state != HoldState::open)  // What is not captured is free again.
        object["amount_refunded"] =
            object["amount_refunded"].as_int64() + charge.amount - hold.captured;
}

}  // namespace rides
