#pragma once

#include <pawl/http.hpp>
#include <pawl/service.hpp>

#include "apps/rides/rides.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rides {

inline constexpr std::string_view charge_succeeded = "charge.succeeded";
inline constexpr std::string_view charge_refunded = "charge.refunded";
// A refund that fails after it was made comes as any of these.
inline constexpr std::string_view refund_failed = "refund.failed";
inline constexpr std::string_view refund_updated = "refund.updated";
inline constexpr std::string_view charge_refund_updated = "charge.refund.updated";

// What an event says of its charge. Its texts are storable_text(). For a refund that has failed,
// `id` is its charge's, `amount` is its own, and `description` says why.
struct EventCharge {
    std::string id{};
    std::int64_t amount{};
    std::int64_t amount_refunded{};
    std::string currency{};
    std::optional<std::string> customer{};
    std::optional<std::string> description{};
};

// An event of Stripe that we handle, without what differs between two deliveries of it.
struct StripeEvent {
    std::string id{};
    std::string type{};                        // One of those above.
    std::optional<pawl::TimePoint> created{};  // nullopt: no time that a database holds.
    EventCharge charge{};
    std::optional<std::string> call_key{};  // The Idempotency-Key of the request that caused it.
};

struct ApplyEvent {
    static constexpr std::string_view kind = "apply_event";
    std::string event{};
};

/// Records an event of Stripe, under the event's id as the key: a second delivery gets the stored
/// answer and does nothing. Its job applies it.
class ReceiveEvent {
public:
    static constexpr std::string_view name = "receive_event";
    static constexpr pawl::Settings settings{
        .scope = pawl::Scope::tenant, .in_progress = pawl::wait(std::chrono::seconds{5})};
    using Started = pawl::Started<StripeEvent>;
    pawl::Finish record(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&ReceiveEvent::record>>;
};
static_assert(pawl::Operation<ReceiveEvent>);

// Applies a recorded event when it fits: once its ride has the charge, or its request is in doubt.
// Events come in any order, also before our own answer from Stripe, so one that does not fit is
// tried again, ever more rarely, for three days. After that it stays recorded: a charge that no
// ride has is shown by `rides reconcile`. What an event says otherwise than its ride's row is a
// difference, as if the comparison of the ride's day had found it.
class EventWorker {
public:
    // The service outlives it, and has it.
    EventWorker(pawl::Service& service, std::string target)
        : service_{&service}, target_{std::move(target)} {}
    pawl::JobResult work(pawl::Tx& tx, const pawl::Job<ApplyEvent>& job);

private:
    pawl::Service* service_;
    std::string target_;
};

struct StripeIdentity;

// POST /webhooks/stripe: checks the signature with the secrets, newest first, and runs
// ReceiveEvent. Events that change nothing get 200 and leave nothing. The service outlives it.
pawl::Webhook stripe_webhook(
    pawl::Service& service, std::vector<std::string> secrets, StripeIdentity ours
);

}  // namespace rides
