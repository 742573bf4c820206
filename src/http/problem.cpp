#include "src/http/problem.hpp"

#include "src/base/text.hpp"
#include "src/core/assert.hpp"
#include "src/http/http_date.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::http {

namespace {

constexpr std::array<ProblemKind, 30> kinds{{
    // Errors of the HTTP request; nothing is stored.
    {"request-invalid", 400, false},
    {"key-missing", 400, false},
    {"key-invalid", 400, false},
    {"unauthorized", 401, false},
    {"form-refused", 403, false},
    {"not-found", 404, false},
    {"method-not-allowed", 405, false},
    {"request-time-out", 408, true},
    {"precondition-failed", 412, false},
    {"body-too-large", 413, false},
    {"line-too-long", 414, false},
    {"type-not-supported", 415, false},
    {"quota-exceeded", 429, true},
    {"headers-too-large", 431, false},
    {"not-implemented", 501, false},
    {"version-not-supported", 505, false},
    // Errors of the key.
    {"in-progress", 409, true},
    {"key-reused", 422, false},  // Or 409 or 400, by HttpOptions::key_reused_status.
    {"key-reused", 409, false},
    {"key-reused", 400, false},
    {"key-expired", 410, false},
    // Errors of the work.
    {"internal", 500, true},
    {"needs-attention", 502, false},
    {"provider-unavailable", 503, true},
    {"store-unavailable", 503, true},
    {"contention", 503, true},
    {"phase-deadline", 503, true},
    {"overloaded", 503, true},
    {"stranded", 503, true},
    {"stopping", 503, true},
}};

bool known(const Problem& problem) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const ProblemKind& kind) {
        return kind.type == problem.type && kind.status == problem.status &&
               kind.retry == problem.retry;
    });
}

struct ProblemText {
    int status;
    std::string_view type;
    std::string_view title;
    bool retry;
};

ProblemText problem_text_of(engine::Reason why, int key_reused_status) {
    using engine::Reason;
    switch (why) {
        case Reason::in_progress:
            return {409, "in-progress", "A request with this Idempotency-Key is in progress", true};
        case Reason::key_reused:
            return {
                key_reused_status,
                "key-reused",
                "This Idempotency-Key was used with another request",
                false};
        case Reason::key_expired:
            return {410, "key-expired", "This Idempotency-Key has expired", false};
        case Reason::internal:
            return {
                500,
                "internal",
                "The request failed on our side; it can be repeated with the same key",
                true};
        case Reason::provider_unavailable:
            return {
                503,
                "provider-unavailable",
                "A service that this request needs did not answer",
                true};
        case Reason::store_unavailable:
            return {503, "store-unavailable", "The database can't be written at the moment", true};
        case Reason::contention:
            return {503, "contention", "Too many requests change the same data", true};
        case Reason::phase_deadline:
            return {503, "phase-deadline", "The request took too long", true};
        case Reason::overloaded:
            return {503, "overloaded", "Too many requests are waiting", true};
        case Reason::stranded:
            return {
                503, "stranded", "Another version of this service must continue the request", true};
        case Reason::needs_attention:
            return {
                502,
                "needs-attention",
                "An operator must settle this request before it can go on",
                false};
        case Reason::stopping:
            break;
    }
    return {503, "stopping", "The server is stopping", true};
}

std::string_view title_of(int status) {
    switch (status) {
        case 404:
            return "Not found";
        case 405:
            return "This method is not supported here";
        case 408:
            return "The request came too slowly";
        case 412:
            return "Conditions are not supported here";
        case 413:
            return "The body is too large";
        case 414:
            return "The request line is too long";
        case 415:
            return "The body's type is not supported";
        case 431:
            return "The headers are too large";
        case 501:
            return "The transfer coding is not supported";
        case 503:
            return "Too many requests are waiting";
        case 505:
            return "Only HTTP/1.0 and HTTP/1.1 are supported";
        default:
            return "The request is malformed";
    }
}

std::string_view type_of(int status) {
    switch (status) {
        case 404:
            return "not-found";
        case 405:
            return "method-not-allowed";
        case 408:
            return "request-time-out";
        case 412:
            return "precondition-failed";
        case 413:
            return "body-too-large";
        case 414:
            return "line-too-long";
        case 415:
            return "type-not-supported";
        case 431:
            return "headers-too-large";
        case 501:
            return "not-implemented";
        case 503:
            return "overloaded";
        case 505:
            return "version-not-supported";
        default:
            return "request-invalid";
    }
}

Reply stored_reply(engine::StoredResponse settled) {
    Reply reply{
        .status = settled.response.status,
        .headers = std::move(settled.response.headers),
        .body = std::move(settled.response.body)};
    if (!settled.response.content_type.empty())
        reply.headers.push_back({"Content-Type", std::move(settled.response.content_type)});
    reply.headers.push_back({"Cache-Control", "no-store"});
    if (settled.replayed) reply.headers.push_back({"Idempotent-Replayed", "true"});
    if (settled.expires_at)
        reply.headers.push_back({"Idempotency-Expires", http_date(*settled.expires_at)});
    return reply;
}

}  // namespace

std::span<const ProblemKind> problem_kinds() {
    return kinds;
}

Reply problem_reply(const Problem& problem) {
    PAWL_ASSERT(known(problem));
    Reply reply{.status = problem.status};
    std::string& body = reply.body;
    auto member = [&](std::string_view name, std::string_view text) {
        body += body.empty() ? '{' : ',';
        base::append_string(body, name);
        body += ':';
        base::append_string(body, text);
    };
    member("type", "/errors/" + std::string{problem.type});
    member("title", problem.title);
    body += ",\"status\":" + std::to_string(problem.status);
    if (!problem.detail.empty()) member("detail", problem.detail);
    body += problem.retry ? ",\"retry\":true" : ",\"retry\":false";
    if (!problem.code.empty()) member("code", problem.code);
    body += "}";
    reply.headers.push_back({"Content-Type", "application/problem+json"});
    reply.headers.push_back({"Cache-Control", "no-store"});
    if (problem.retry_after)
        reply.headers.push_back({"Retry-After", std::to_string(problem.retry_after->count())});
    return reply;
}

Reply reply_to(engine::Answer answer, int key_reused_status) {
    if (auto* settled = std::get_if<engine::StoredResponse>(&answer))
        return stored_reply(std::move(*settled));
    const auto& refused = std::get<engine::Rejection>(answer);
    const auto sentence = problem_text_of(refused.reason, key_reused_status);
    Problem problem{
        .status = sentence.status,
        .type = sentence.type,
        .title = sentence.title,
        .retry = sentence.retry};
    if (sentence.retry) problem.retry_after = refused.retry_after;
    if (refused.reason == engine::Reason::stranded) problem.code = "PAWL0007";
    if (refused.reason == engine::Reason::key_expired && refused.outcome) {
        problem.detail = "The request ended with status " + std::to_string(*refused.outcome);
        if (refused.location) problem.detail += "; see " + *refused.location;
    }
    return problem_reply(problem);
}

std::string_view limit_name(core::OverQuota::Limit limit) {
    switch (limit) {
        case core::OverQuota::Limit::in_flight:
            return "in_flight";
        case core::OverQuota::Limit::rate:
            return "rate";
        case core::OverQuota::Limit::account_in_flight:
            break;
    }
    return "account_in_flight";
}

Reply quota_exceeded(const core::OverQuota& why) {
    const bool rate = why.limit == core::OverQuota::Limit::rate;
    const bool account = why.limit == core::OverQuota::Limit::account_in_flight;
    return problem_reply(
        {.status = 429,
         .type = "quota-exceeded",
         .title = account ? "This account sends more requests than it may"
                          : "This tenant sends more requests than it may",
         .detail = rate      ? "Requests come too fast."
                   : account ? "Too many requests of this account are in flight."
                             : "Too many requests of this tenant are in flight.",
         .retry = true,
         .retry_after = why.retry_after,
         .code = "PAWL0013"}
    );
}

Reply refusal(int status, std::string_view detail) {
    Problem problem{
        .status = status,
        .type = type_of(status),
        .title = title_of(status),
        .detail = std::string{detail},
        .retry = status == 408 || status == 503};
    if (status == 503) problem.retry_after = std::chrono::seconds{1};
    return problem_reply(problem);
}

}  // namespace pawl::http
