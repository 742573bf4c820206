#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/request_head.hpp>
#include <pawl/response.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Webhooks: those that a provider sends us, and the signatures of our own. docs/howto/webhooks.md
namespace pawl {

// One delivery, for HttpServer::webhook().
struct WebhookDelivery {
    const RequestHead& head;
    std::string_view body;  // As it came, byte for byte.
};
// `answer` is called once, now or later, from any thread; an exception answers 500. A signature is
// to be checked first: anybody can send a delivery.
using Webhook =
    std::function<void(const WebhookDelivery& delivery, std::function<void(Response)> answer)>;

// A signature is an HMAC-SHA256 of the body as it was sent, byte for byte, and of the time of the
// delivery. While a secret is replaced, both count: give the new one first, then the old one. An
// empty secret never matches. All functions are thread-safe.
enum class WebhookCheck {
    ok,
    no_signature,     // A header is missing, or sent twice.
    malformed,        // A header has another form, or is longer than 4 KiB.
    wrong_signature,  // No signature is of any of the secrets.
    too_old,          // Signed by a secret, but sent again, or by a clock that is slow.
    in_future
};
// For logs: "wrong signature".
std::string_view text_of(WebhookCheck check);

// How far the time of a signature may be from `now`. Each redelivery is signed anew.
inline constexpr std::chrono::seconds webhook_tolerance{300};

// Stripe-Signature: t=SECONDS,v1=HEX[,v1=HEX...], of "SECONDS.BODY". A secret is used as Stripe
// shows it, whsec_ included. Other schemes than v1 are ignored.
WebhookCheck check_stripe_webhook(
    const RequestHead& head,
    std::string_view body,
    std::span<const std::string> secrets,
    TimePoint now,
    std::chrono::seconds tolerance = webhook_tolerance
);
// The header's value. For tests, and for what stands in for Stripe.
std::string stripe_signature(
    std::span<const std::string> secrets, TimePoint sent_at, std::string_view body
);

// Standard Webhooks (standardwebhooks.com): webhook-id, webhook-timestamp and webhook-signature,
// v1,BASE64 of "ID.SECONDS.BODY", several separated by a space. A secret is whsec_ and the base64
// of 24 to 64 bytes; one of another form never matches.
WebhookCheck check_standard_webhook(
    const RequestHead& head,
    std::string_view body,
    std::span<const std::string> secrets,
    TimePoint now,
    std::chrono::seconds tolerance = webhook_tolerance
);
// The three headers, signed with each secret. `id`: the same for each delivery of one event, and
// without a full stop. Throws std::invalid_argument for a secret of another form.
std::vector<Header> standard_webhook_headers(
    std::string_view id,
    std::span<const std::string> secrets,
    TimePoint sent_at,
    std::string_view body
);
// What is wrong with a secret of Standard Webhooks, without the secret; nullopt: nothing.
std::optional<std::string> webhook_secret_problem(std::string_view secret);

}  // namespace pawl
