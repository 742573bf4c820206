#include <pawl/webhook.hpp>

#include "src/json/hash.hpp"

#include <charconv>
#include <stdexcept>

namespace pawl {

namespace {

constexpr std::size_t header_max = 4'096;
// Time for many signatures is an attacker's to spend: a sender needs two while a secret is
// replaced.
constexpr std::size_t signatures_max = 16;
constexpr std::size_t secret_min = 24;
constexpr std::size_t secret_max = 64;
constexpr std::string_view secret_prefix = "whsec_";

using Signatures = std::vector<std::string_view>;

// f(part) for each part; an empty text has one empty part.
template <class F>
void for_each_part(std::string_view text, char separator, F f) {
    while (true) {
        const auto end = text.find(separator);
        f(text.substr(0, end));
        if (end == text.npos) return;
        text.remove_prefix(end + 1);
    }
}

// Plain digits, as they were signed: at most to the year 33658.
std::optional<TimePoint> time_of(std::string_view digits) {
    std::int64_t seconds = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, seconds);
    if (error != std::errc{} || stopped != end || digits.size() > 12 || seconds < 0)
        return std::nullopt;
    return TimePoint{std::chrono::seconds{seconds}};
}

std::string seconds_text(TimePoint at) {
    return std::to_string(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
}

WebhookCheck check_time(TimePoint sent, TimePoint now, std::chrono::seconds tolerance) {
    if (now - sent > tolerance) return WebhookCheck::too_old;
    if (sent - now > tolerance) return WebhookCheck::in_future;
    return WebhookCheck::ok;
}

// Compares all, so that the time shows neither which secret nor which signature matched.
bool any_matches(const Signatures& given, const std::vector<std::string>& expected) {
    bool found = false;
    for (const auto& text : expected)
        for (const auto signature : given) found |= json::same_bytes(signature, text);
    return found;
}

std::string signed_text(std::string_view prefix, std::string_view body) {
    std::string text;
    text.reserve(prefix.size() + 1 + body.size());
    return text.append(prefix).append(".").append(body);
}

struct StripeHeader {
    std::optional<std::string_view> time;
    Signatures signatures;
    bool wrong{};
};

StripeHeader read_stripe(std::string_view value) {
    StripeHeader read;
    for_each_part(value, ',', [&](std::string_view part) {
        if (part.starts_with("t=")) {
            read.wrong |= read.time.has_value();
            read.time = part.substr(2);
        }
        if (part.starts_with("v1=")) read.signatures.push_back(part.substr(3));
    });
    read.wrong |= !read.time || read.signatures.size() > signatures_max;
    return read;
}

// The bytes of a secret of Standard Webhooks.
std::optional<std::string> secret_of(std::string_view secret) {
    if (!secret.starts_with(secret_prefix)) return std::nullopt;
    auto bytes = json::from_base64(secret.substr(secret_prefix.size()));
    if (!bytes || bytes->size() < secret_min || bytes->size() > secret_max) return std::nullopt;
    return bytes;
}

}  // namespace

std::string_view text_of(WebhookCheck check) {
    constexpr std::string_view texts[] = {
        "ok", "no signature", "malformed", "wrong signature", "too old", "in the future"};
    return texts[static_cast<std::size_t>(check)];
}

WebhookCheck check_stripe_webhook(
    const RequestHead& head,
    std::string_view body,
    std::span<const std::string> secrets,
    TimePoint now,
    std::chrono::seconds tolerance
) {
    const auto value = head.header("Stripe-Signature");
    if (!value) return WebhookCheck::no_signature;
    if (value->size() > header_max) return WebhookCheck::malformed;
    const auto read = read_stripe(*value);
    const auto sent = read.wrong ? std::nullopt : time_of(*read.time);
    if (!sent) return WebhookCheck::malformed;
    if (read.signatures.empty()) return WebhookCheck::no_signature;
    std::vector<std::string> expected;
    const auto text = signed_text(*read.time, body);
    for (const auto& secret : secrets)
        if (!secret.empty()) expected.push_back(json::hex(json::hmac_sha256(secret, text)));
    if (!any_matches(read.signatures, expected)) return WebhookCheck::wrong_signature;
    return check_time(*sent, now, tolerance);
}

std::string stripe_signature(
    std::span<const std::string> secrets, TimePoint sent_at, std::string_view body
) {
    const auto time = seconds_text(sent_at);
    const auto text = signed_text(time, body);
    auto value = "t=" + time;
    for (const auto& secret : secrets) value += ",v1=" + json::hex(json::hmac_sha256(secret, text));
    return value;
}

WebhookCheck check_standard_webhook(
    const RequestHead& head,
    std::string_view body,
    std::span<const std::string> secrets,
    TimePoint now,
    std::chrono::seconds tolerance
) {
    const auto id = head.header("webhook-id");
    const auto time = head.header("webhook-timestamp");
    const auto value = head.header("webhook-signature");
    if (!id || !time || !value) return WebhookCheck::no_signature;
    if (id->size() + time->size() + value->size() > header_max) return WebhookCheck::malformed;
    const auto sent = time_of(*time);
    // A full stop in the id would let two ids and bodies have one signed text.
    if (!sent || id->empty() || id->find('.') != id->npos) return WebhookCheck::malformed;
    Signatures given;
    for_each_part(*value, ' ', [&given](std::string_view part) {
        if (part.starts_with("v1,")) given.push_back(part.substr(3));
    });
    if (given.size() > signatures_max) return WebhookCheck::malformed;
    if (given.empty()) return WebhookCheck::no_signature;
    const auto text = signed_text(std::string{*id} + "." + std::string{*time}, body);
    std::vector<std::string> expected;
    for (const auto& secret : secrets)
        if (const auto bytes = secret_of(secret))
            expected.push_back(json::base64(json::hmac_sha256(*bytes, text)));
    if (!any_matches(given, expected)) return WebhookCheck::wrong_signature;
    return check_time(*sent, now, tolerance);
}

std::vector<Header> standard_webhook_headers(
    std::string_view id,
    std::span<const std::string> secrets,
    TimePoint sent_at,
    std::string_view body
) {
    const auto time = seconds_text(sent_at);
    const auto text = signed_text(std::string{id} + "." + time, body);
    std::string signatures;
    for (const auto& secret : secrets) {
        if (auto why = webhook_secret_problem(secret)) throw std::invalid_argument{*why};
        signatures += signatures.empty() ? "v1," : " v1,";
        signatures += json::base64(json::hmac_sha256(*secret_of(secret), text));
    }
    return {
        {"webhook-id", std::string{id}},
        {"webhook-timestamp", time},
        {"webhook-signature", signatures}};
}

std::optional<std::string> webhook_secret_problem(std::string_view secret) {
    if (secret_of(secret)) return std::nullopt;
    return "a webhook secret is not whsec_ and the base64 of 24 to 64 bytes";
}

}  // namespace pawl
