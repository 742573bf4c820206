#include "apps/rides/stripe_events.hpp"

#include <pawl/json.hpp>
#include <pawl/log.hpp>
#include <pawl/provider_event.hpp>

#include "apps/rides/book_ride.hpp"
#include "apps/rides/charge_differences.hpp"
#include "apps/rides/stripe_event_reader.hpp"
#include "rides/statements.hpp"

#include <algorithm>
#include <utility>

namespace rides {

namespace {

using namespace std::chrono_literals;

constexpr auto wait_max = 1h;
constexpr auto tried_for = 72h;

struct StoredEvent {
    std::string type;
    std::string charge_id;
    std::int64_t amount{};
    std::int64_t amount_refunded{};
    std::string object;
    std::optional<std::string> call_key;
    std::string state;
};
struct ChargedRide {
    std::int64_t id{};
    std::int64_t user{};
};
// The columns of show_ride_for_refund.
struct OrderedRefunds {
    std::string state;
    std::optional<std::string> charge;
    std::int64_t amount{};
    std::string currency;
    std::int64_t refunded{};  // Or may be.
};
struct Received {
    bool received{true};
};
struct RefundedBy {
    std::string event;
};

// The client's key, if the charge is of a ride.
std::string reference_of(const EventCharge& charge) {
    const auto text = charge.description.value_or("");
    return text.starts_with(charge_description) ? text.substr(charge_description.size()) : "";
}

pawl::ProviderEvent provider_event(
    const std::string& id, const StoredEvent& event, const std::string& target
) {
    const auto charge = pawl::from_json<EventCharge>(event.object).value_or(EventCharge{});
    return {
        .provider = "stripe",
        .id = id,
        .type = event.type,
        .object = event.object,
        .call_key = event.call_key.value_or(""),
        .reference = reference_of(charge),
        .target = target};
}

bool is_of_charge(const StoredEvent& event) {
    return event.type == charge_succeeded || event.type == charge_refunded;
}

// `amount_refunded` only grows, so an older event that comes later undoes nothing.
bool refunds_all(const StoredEvent& event, const EventCharge& charge, const RideWithCharge& ride) {
    return event.type == charge_refunded && event.amount_refunded >= event.amount &&
           event.amount == ride.amount && charge.currency == ride.currency;
}

// What the event says otherwise than the ride's row. Empty: nothing. A refund of ours may be made
// and not recorded yet, so a part that our requests have ordered is no difference.
std::string difference_of(
    pawl::Tx& tx, const StoredEvent& event, const EventCharge& charge, const RideWithCharge& ride
) {
    if (!is_of_charge(event)) return charge.description.value_or("a refund has failed");
    const auto ordered = pawl::query_one<OrderedRefunds>(tx, sql::show_ride_for_refund, ride.id);
    BookedCharge theirs;
    theirs.amount = event.amount;
    theirs.currency = charge.currency;
    theirs.amount_refunded = event.amount_refunded;
    if (ride.state == "refunded")
        theirs.amount_refunded = theirs.amount;
    else if (theirs.amount_refunded <= ordered.refunded)
        theirs.amount_refunded = ride.refunded;
    return detail_of(theirs, ride);
}

void log_difference(
    const std::string& id,
    const StoredEvent& event,
    const std::string& ride,
    const std::string& detail
) {
    if (is_of_charge(event))
        return pawl::log::warning(
            "charge_differs",
            {{"id", id}, {"charge", event.charge_id}, {"ride", ride}, {"detail", detail}}
        );
    pawl::log::warning(
        "refund_failed",
        {{"id", id}, {"charge", event.charge_id}, {"ride", ride}, {"detail", detail}}
    );
}

// As if the comparison of the ride's day had found it: it is closed when that does not any more.
void keep_difference(
    pawl::Tx& tx, const StoredEvent& event, const RideWithCharge& ride, const std::string& detail
) {
    constexpr std::size_t date = 10;  // "2026-11-21"
    pawl::send(
        tx,
        sql::put_difference,
        event.charge_id,
        ride.created_at.substr(0, date),
        "differs",
        std::optional{ride.id},
        is_of_charge(event) ? event.amount : ride.amount,
        ride.currency,
        detail,
        tx.now()
    );
}

void apply_to_ride(
    pawl::Tx& tx, const std::string& id, const StoredEvent& event, const ChargedRide& charged
) {
    const auto charge = pawl::from_json<EventCharge>(event.object).value_or(EventCharge{});
    auto ride = pawl::query_one<RideWithCharge>(tx, sql::show_ride_of_charge, event.charge_id);
    if (refunds_all(event, charge, ride) &&
        pawl::execute(tx, sql::set_refunded_by_event, event.charge_id) > 0) {
        record(
            tx,
            {"refunded", charged.id, "ride", pawl::to_json(RefundedBy{id})},
            charged.user,
            "webhook"
        );
        ride.state = "refunded";
    }
    const auto detail = difference_of(tx, event, charge, ride);
    if (detail.empty()) return;
    keep_difference(tx, event, ride, detail);
    log_difference(id, event, std::to_string(ride.id), detail);
}

pawl::JobResult later(pawl::Tx& tx, const pawl::Job<ApplyEvent>& job) {
    const auto age = tx.now() - job.created_at;
    if (age > tried_for) return pawl::done;
    return pawl::retry_in(std::clamp<std::chrono::milliseconds>(age, 1s, wait_max));
}

pawl::Response response_of(pawl::RunResult end) {
    if (auto* answer = std::get_if<pawl::RunAnswer>(&end)) return std::move(answer->response);
    const auto& refused = std::get<pawl::RunProblem>(end);
    // Its key has expired, so it was handled.
    if (refused.type == "key-expired") return pawl::respond(200, Received{});
    pawl::log::limited_warning(
        "webhook_failed",
        refused.type,
        {{"provider", "stripe"}, {"why", refused.type}, {"detail", refused.detail}}
    );
    return refused.retry
               ? passing_problem(refused.status, "The event was not recorded", refused.type)
               : problem(refused.status, "The event was not recorded", refused.type);
}

pawl::Response refuse(std::string_view why, const std::string& client) {
    // Anybody can send one.
    pawl::log::limited_warning(
        "webhook_refused",
        std::string{why},
        {{"provider", "stripe"}, {"why", why}, {"client", client}}
    );
    return problem(400, "The delivery was refused", std::string{why});
}

pawl::Response ignore(const IgnoredEvent& event) {
    if (!event.why.empty())
        pawl::log::limited_info(
            "webhook_ignored",
            event.why,
            {{"provider", "stripe"}, {"id", event.id}, {"why", event.why}}
        );
    return pawl::respond(200, Received{});
}

}  // namespace

pawl::Finish ReceiveEvent::record(pawl::Tx& tx, const Started& at) {
    const auto& event = at.request;
    pawl::send(
        tx,
        sql::insert_event,
        event.id,
        event.type,
        event.created.value_or(tx.now()),
        tx.now(),
        event.charge.id,
        event.charge.amount,
        event.charge.amount_refunded,
        pawl::to_json(event.charge),
        event.call_key
    );
    tx.stage(ApplyEvent{event.id});
    return pawl::answer(200, Received{});
}

pawl::JobResult EventWorker::work(pawl::Tx& tx, const pawl::Job<ApplyEvent>& job) {
    const auto& id = job.args.event;
    const auto event = pawl::query_maybe<StoredEvent>(tx, sql::find_event, id);
    if (!event || event->state != "recorded") return pawl::done;
    const auto ride = pawl::query_maybe<ChargedRide>(tx, sql::find_charged_ride, event->charge_id);
    if (ride) {
        apply_to_ride(tx, id, *event, *ride);
        pawl::send(tx, sql::set_event_state, id, "applied");
        return pawl::done;
    }
    if (!is_of_charge(*event)) {
        const auto refund = pawl::from_json<EventCharge>(event->object).value_or(EventCharge{});
        log_difference(id, *event, "", refund.description.value_or(""));
        return pawl::done;
    }
    if (event->type != charge_succeeded ||
        !service_->settle_by(tx, provider_event(id, *event, target_)))
        return later(tx, job);
    pawl::send(tx, sql::set_event_state, id, "settled");
    return pawl::done;
}

pawl::Webhook stripe_webhook(
    pawl::Service& service, std::vector<std::string> secrets, StripeIdentity ours
) {
    return [&service, secrets = std::move(secrets), ours = std::move(ours)](
               const pawl::WebhookDelivery& delivery, std::function<void(pawl::Response)> answer
           ) {
        const auto now =
            std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        const auto& client = delivery.head.client_address;
        const auto check = pawl::check_stripe_webhook(delivery.head, delivery.body, secrets, now);
        if (check != pawl::WebhookCheck::ok) return answer(refuse(pawl::text_of(check), client));
        const auto read = read_event(delivery.body, ours);
        if (const auto* refused = std::get_if<RefusedEvent>(&read))
            return answer(refuse(refused->why, client));
        if (const auto* ignored = std::get_if<IgnoredEvent>(&read)) return answer(ignore(*ignored));
        const auto& event = std::get<StripeEvent>(read);
        // No rider has this tenant: it has a space.
        service.run<ReceiveEvent>(
            {"provider stripe", "webhooks"},
            event.id,
            event,
            [answer = std::move(answer)](pawl::RunResult end) {
                answer(response_of(std::move(end)));
            }
        );
    };
}

}  // namespace rides
