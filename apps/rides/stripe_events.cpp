#include "apps/rides/stripe_events.hpp"

#include <pawl/json.hpp>
#include <pawl/log.hpp>
#include <pawl/provider_event.hpp>

#include "apps/rides/book_ride.hpp"
#include "rides/statements.hpp"

#include <algorithm>
#include <utility>

namespace rides {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view succeeded = "charge.succeeded";
constexpr std::string_view refunded = "charge.refunded";
constexpr auto wait_max = 1h;
constexpr auto tried_for = 72h;

// An event as Stripe sends it.
struct EventHead {
    std::string id{};
    std::string type{};
};
struct EventData {
    EventCharge object{};
};
struct EventCause {
    std::optional<std::string> idempotency_key{};
};
struct EventBody {
    std::string id{};
    std::string type{};
    std::int64_t created{};
    EventData data{};
    std::optional<EventCause> request{};
};

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

// `amount_refunded` only grows, so an older event that comes later undoes nothing. Of a part of the
// amount there is no state.
void apply_refund(
    pawl::Tx& tx, const std::string& id, const StoredEvent& event, const ChargedRide& ride
) {
    if (event.amount_refunded < event.amount) return;
    if (pawl::execute(tx, sql::set_refunded_by_event, event.charge_id) == 0) return;
    record(tx, {"refunded", ride.id, "ride", pawl::to_json(RefundedBy{id})}, ride.user, "webhook");
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

}  // namespace

pawl::Finish ReceiveEvent::record(pawl::Tx& tx, const Started& at) {
    const auto& event = at.request;
    pawl::send(
        tx,
        sql::insert_event,
        event.id,
        event.type,
        event.created,
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
        if (event->type == refunded) apply_refund(tx, id, *event, *ride);
        pawl::send(tx, sql::set_event_state, id, "applied");
        return pawl::done;
    }
    if (event->type != succeeded || !service_->settle_by(tx, provider_event(id, *event, target_)))
        return later(tx, job);
    pawl::send(tx, sql::set_event_state, id, "settled");
    return pawl::done;
}

pawl::Webhook stripe_webhook(pawl::Service& service, std::vector<std::string> secrets) {
    return [&service, secrets = std::move(secrets)](
               const pawl::WebhookDelivery& delivery, std::function<void(pawl::Response)> answer
           ) {
        const auto now =
            std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        const auto& client = delivery.head.client_address;
        const auto check = pawl::check_stripe_webhook(delivery.head, delivery.body, secrets, now);
        if (check != pawl::WebhookCheck::ok) return answer(refuse(pawl::text_of(check), client));
        const auto head = pawl::from_json<EventHead>(delivery.body, pawl::Unknown::ignored);
        if (!head) return answer(refuse("not an event", client));
        if (head->type != succeeded && head->type != refunded)
            return answer(pawl::respond(200, Received{}));
        auto body = pawl::from_json<EventBody>(delivery.body, pawl::Unknown::ignored);
        if (!body) return answer(refuse("not an event of a charge", client));
        const StripeEvent event{
            .id = body->id,
            .type = body->type,
            .created = pawl::TimePoint{std::chrono::seconds{body->created}},
            .charge = std::move(body->data.object),
            .call_key = body->request ? body->request->idempotency_key : std::nullopt};
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
