#include "apps/rides/stripe_event_reader.hpp"

#include <pawl/json.hpp>

#include "apps/rides/stripe.hpp"

#include <utility>

namespace rides {

namespace {

template <class T>
std::optional<T> read(std::string_view body) {
    return pawl::from_json<T>(body, pawl::Unknown::ignored);
}

struct EventHead {
    std::string id{};
    std::string type{};
};

// Each of the next structs is read alone: a member in another form is none, and the event counts.
struct EventMode {
    std::optional<bool> livemode{};
};
struct EventAccount {
    std::optional<std::string> account{};
};
// Seconds; JavaScript's milliseconds are a year that no database has.
struct EventTime {
    double created{};
};
// Before the version 2017-05-25 `request` was the request's id alone.
struct EventCause {
    std::optional<std::string> idempotency_key{};
};
struct EventRequest {
    std::optional<EventCause> request{};
};

template <class Object>
struct EventData {
    Object object{};
};
template <class Object>
struct EventOf {
    EventData<Object> data{};
};
struct ExpandedCustomer {
    std::string id{};
};
struct OfCustomer {
    std::optional<std::string> customer{};
};
struct OfExpandedCustomer {
    std::optional<ExpandedCustomer> customer{};
};
// What makes a charge another thing than a payment; a member that is missing says nothing.
struct Meaning {
    std::optional<std::string> object{};
    std::optional<std::string> status{};
    std::optional<bool> paid{};
    std::optional<bool> captured{};
    std::optional<bool> refunded{};
    std::optional<bool> livemode{};
    std::optional<std::int64_t> amount_captured{};
};
struct Amounts {
    std::string id{};
    std::int64_t amount{};
    std::int64_t amount_refunded{};
    std::string currency{};
    std::optional<std::string> description{};
};

struct FailedRefund {
    std::string id{};
    std::optional<std::string> object{};
    std::int64_t amount{};
    std::string currency{};
    std::optional<std::string> charge{};
    std::optional<std::string> status{};
    std::optional<std::string> failure_reason{};
};

std::optional<pawl::TimePoint> created_at(std::string_view body) {
    const auto event = read<EventTime>(body);
    return event ? time_of_seconds(event->created) : std::nullopt;
}

std::optional<std::string> customer_of(std::string_view body) {
    if (const auto event = read<EventOf<OfCustomer>>(body)) return event->data.object.customer;
    const auto expanded = read<EventOf<OfExpandedCustomer>>(body);
    if (!expanded || !expanded->data.object.customer) return std::nullopt;
    return expanded->data.object.customer->id;
}

std::optional<std::string> storable(const std::optional<std::string>& text) {
    return text ? std::optional{storable_text(*text)} : std::nullopt;
}

// Why the charge is no payment of ours: "captured is false". Empty: it is one.
std::string odd_member(
    const Meaning& charge, const Amounts& sums, bool is_refund, const StripeIdentity& ours
) {
    if (charge.object.value_or("charge") != "charge") return "object is " + *charge.object;
    if (charge.status.value_or("succeeded") != "succeeded") return "status is " + *charge.status;
    if (!charge.paid.value_or(true)) return "paid is false";
    if (!charge.captured.value_or(true)) return "captured is false";
    if (charge.amount_captured.value_or(sums.amount) != sums.amount)
        return "amount_captured is not amount";
    const bool whole = is_refund && sums.amount_refunded == sums.amount;
    if (charge.refunded.value_or(whole) != whole) return "refunded contradicts amount_refunded";
    if (ours.livemode && charge.livemode.value_or(*ours.livemode) != *ours.livemode)
        return "the charge's livemode is not the API key's";
    return {};
}

// Why the event is none of this account and mode.
std::string odd_sender(std::string_view body, const StripeIdentity& ours) {
    const auto mode = read<EventMode>(body);
    if (!mode) return "livemode is neither true nor false";
    if (ours.livemode && mode->livemode.value_or(*ours.livemode) != *ours.livemode)
        return "livemode is not the API key's";
    const auto sender = read<EventAccount>(body);
    if (!sender || sender->account.value_or(ours.account) != ours.account)
        return "account is another one";
    return {};
}

bool is_of_refund(std::string_view type) {
    return type == refund_failed || type == refund_updated || type == charge_refund_updated;
}

// The other updates of a refund change nothing.
ReadEvent read_refund(const EventHead& head, std::string_view body) {
    const auto event = read<EventOf<FailedRefund>>(body);
    if (!event) return RefusedEvent{"not an event of a refund"};
    const auto& refund = event->data.object;
    if (refund.object.value_or("refund") != "refund")
        return IgnoredEvent{head.id, "object is " + *refund.object};
    const auto status = refund.status.value_or(head.type == refund_failed ? "failed" : "");
    if (status != "failed" && status != "canceled")
        return IgnoredEvent{head.id, head.type == refund_failed ? "status is " + status : ""};
    if (refund.amount <= 0) return RefusedEvent{"its amount is none of a refund"};
    return StripeEvent{
        .id = head.id,
        .type = head.type,
        .created = created_at(body),
        .charge =
            {.id = storable_text(refund.charge.value_or("")),
             .amount = refund.amount,
             .amount_refunded = 0,
             .currency = storable_text(refund.currency),
             .customer = {},
             .description = storable_text(
                 "the refund " + refund.id + " of " + std::to_string(refund.amount) + ' ' +
                 refund.currency + ' ' + (status == "failed" ? "has failed: " : "was canceled: ") +
                 refund.failure_reason.value_or("no reason given")
             )},
        .call_key = {}};
}

}  // namespace

StripeIdentity identity_of(std::string_view api_key, std::string account) {
    return {.livemode = livemode_of(api_key), .account = std::move(account)};
}

ReadEvent read_event(std::string_view body, const StripeIdentity& ours) {
    const auto head = read<EventHead>(body);
    if (!head) return RefusedEvent{"not an event"};
    const bool is_refund = head->type == charge_refunded;
    if (!is_refund && head->type != charge_succeeded && !is_of_refund(head->type))
        return IgnoredEvent{};
    if (!is_provider_id(head->id)) return RefusedEvent{"its id is none of Stripe's"};
    if (auto why = odd_sender(body, ours); !why.empty()) return IgnoredEvent{head->id, why};
    if (is_of_refund(head->type)) return read_refund(*head, body);
    const auto of_charge = read<EventOf<Amounts>>(body);
    const auto meaning = read<EventOf<Meaning>>(body);
    if (!of_charge || !meaning) return RefusedEvent{"not an event of a charge"};
    const auto& sums = of_charge->data.object;
    if (sums.amount <= 0 || sums.amount_refunded < 0 || sums.amount_refunded > sums.amount)
        return RefusedEvent{"its amounts are none of a charge"};
    if (auto why = odd_member(meaning->data.object, sums, is_refund, ours); !why.empty())
        return IgnoredEvent{head->id, why};
    const auto cause = read<EventRequest>(body);
    return StripeEvent{
        .id = head->id,
        .type = head->type,
        .created = created_at(body),
        .charge =
            {.id = storable_text(sums.id),
             .amount = sums.amount,
             .amount_refunded = sums.amount_refunded,
             .currency = storable_text(sums.currency),
             .customer = storable(customer_of(body)),
             .description = storable(sums.description)},
        .call_key =
            cause && cause->request ? storable(cause->request->idempotency_key) : std::nullopt};
}

}  // namespace rides
