#include "src/client/retry_hints.hpp"

#include "src/http/http_date.hpp"
#include "src/json/document.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace pawl::client {

namespace {

using http::IncomingResponse;
using std::chrono::milliseconds;

// Seconds or a date (RFC 9110, 10.2.3); nullopt: neither.
std::optional<milliseconds> retry_after(const IncomingResponse& answer, TimePoint now) {
    const auto text = answer.header("Retry-After");
    if (!text || text->empty()) return std::nullopt;
    std::int64_t seconds = 0;
    const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (end == text->data() + text->size()) {
        constexpr std::int64_t week = 7L * 24 * 3600;  // The rule caps longer times anyway.
        if (bad == std::errc::result_out_of_range) return std::chrono::seconds{week};
        if (seconds >= 0) return std::chrono::seconds{std::min(seconds, week)};
        return std::nullopt;
    }
    if (const auto at = http::parse_http_date(*text, now))
        return std::max(*at - now, milliseconds{0});
    return std::nullopt;
}

// The server's hint about a repeat: Stripe's header, or `retry` of our problems (docs/http.md).
std::optional<bool> server_hint(const IncomingResponse& answer) {
    if (const auto word = answer.header("Stripe-Should-Retry")) {
        if (*word == "true") return true;
        if (*word == "false") return false;
    }
    if (!answer.header("Content-Type").value_or("").starts_with("application/problem+json"))
        return std::nullopt;
    const auto parsed = json::parse(answer.body, json::Nul::allowed, {}, json::Unknown::ignored);
    const auto* problem = std::get_if<0>(&parsed);
    if (problem == nullptr || !problem->is_object()) return std::nullopt;
    const auto* retry = problem->get_object().if_contains("retry");
    if (retry == nullptr || !retry->is_bool()) return std::nullopt;
    return retry->get_bool();
}

}  // namespace

core::TryEnd end_of(const http::Sent& sent, TimePoint now) {
    using Kind = core::TryEnd::Kind;
    if (const auto* not_sent = std::get_if<http::NotSent>(&sent))
        return {.kind = Kind::not_sent, .hopeless = not_sent->hopeless};
    if (std::holds_alternative<http::Lost>(sent)) return {.kind = Kind::lost};
    const auto& answer = std::get<IncomingResponse>(sent);
    return {
        .kind = Kind::answered,
        .status = answer.status,
        .retry_after = retry_after(answer, now),
        .server_hint = server_hint(answer),
        .replayed = answer.header("Idempotent-Replayed").value_or("") == "true"};
}

}  // namespace pawl::client
