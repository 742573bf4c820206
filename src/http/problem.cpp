#include "src/http/problem.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/core/assert.hpp"
#include "src/http/http_date.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::http {

namespace {

// The first of a status is the kind that refusal() makes of it.
constexpr std::array<ProblemKind, 34> kinds{{
    // Errors of the HTTP request; nothing is stored.
    {"request-invalid", 400, false, "The request is malformed"},
    {"key-missing", 400, false, "This request needs an Idempotency-Key header"},
    {"key-invalid", 400, false, "The Idempotency-Key is malformed"},
    {"unauthorized", 401, false, "Credentials are missing or wrong"},
    {"form-refused", 403, false, "The request does not come from a page of this service"},
    {"not-found", 404, false, "Not found"},
    {"method-not-allowed", 405, false, "This method is not supported here"},
    {"request-time-out", 408, true, "The request came too slowly"},
    {"precondition-failed", 412, false, "Conditions are not supported here"},
    {"body-too-large", 413, false, "The body is too large"},
    {"line-too-long", 414, false, "The request line is too long"},
    {"type-not-supported", 415, false, "The body's type is not supported"},
    {"quota-exceeded", 429, true, "This tenant sends more requests than it may"},
    {"headers-too-large", 431, false, "The headers are too large"},
    {"not-implemented", 501, false, "The transfer coding is not supported"},
    {"overloaded", 503, true, "Too many requests are waiting"},  // Also an error of the work.
    {"version-not-supported", 505, false, "Only HTTP/1.0 and HTTP/1.1 are supported"},
    // Errors of the key.
    {"in-progress", 409, true, "A request with this Idempotency-Key is in progress"},
    // The status is HttpOptions::key_reused_status.
    {"key-reused", 422, false, "This Idempotency-Key was used with another request"},
    {"key-reused", 409, false, "This Idempotency-Key was used with another request"},
    {"key-reused", 400, false, "This Idempotency-Key was used with another request"},
    {"given-up", 422, false, "Given up by an operator"},  // Stored: engine/attempt_settle.cpp.
    {"key-expired", 410, false, "This Idempotency-Key has expired"},
    // Errors of the work.
    {"internal", 500, true, "The request failed on our side; it can be repeated with the same key"},
    {"needs-attention", 502, false, "An operator must settle this request before it can go on"},
    {"provider-unavailable", 503, true, "A service that this request needs did not answer"},
    {"not-recorded",
     503,
     true,
     "The request was carried out in part; it goes on with the same key"},
    {"store-unavailable", 503, true, "The database can't be written at the moment"},
    {"contention", 503, true, "Too many requests change the same data"},
    {"phase-deadline", 503, true, "The request took too long"},
    {"on-hold", 503, true, "An operator holds this request; it will go on later"},
    {"stranded", 503, true, "Another version of this service must continue the request"},
    {"other-server", 503, true, "Another server of this service must answer the request"},
    {"stopping", 503, true, "The server is stopping"},
}};

const ProblemKind& kind_of(const Problem& problem) {
    const auto* const found = std::ranges::find_if(kinds, [&](const ProblemKind& kind) {
        return kind.type == problem.type && (problem.status == 0 || kind.status == problem.status);
    });
    PAWL_ASSERT(found != kinds.end());
    return *found;
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
    const auto& kind = kind_of(problem);
    Reply reply{.status = kind.status};
    std::string& body = reply.body;
    auto member = [&](std::string_view name, std::string_view text) {
        body += body.empty() ? '{' : ',';
        base::append_string(body, name);
        body += ':';
        base::append_string(body, text);
    };
    member("type", "/errors/" + std::string{kind.type});
    member("title", problem.title.empty() ? kind.title : problem.title);
    body += ",\"status\":" + std::to_string(kind.status);
    if (!problem.detail.empty()) member("detail", problem.detail);
    body += kind.retry ? ",\"retry\":true" : ",\"retry\":false";
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
    Problem problem{.type = engine::name_of(refused.reason)};
    if (refused.reason == engine::Reason::key_reused) problem.status = key_reused_status;
    if (kind_of(problem).retry) problem.retry_after = refused.retry_after;
    problem.code = refused.reason == engine::Reason::stranded ? "PAWL0007" : refused.code;
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
        {.type = "quota-exceeded",
         .title = account ? "This account sends more requests than it may" : "",
         .detail = rate      ? "Requests come too fast."
                   : account ? "Too many requests of this account are in flight."
                             : "Too many requests of this tenant are in flight.",
         .retry_after = why.retry_after,
         .code = "PAWL0013"}
    );
}

Reply refusal(int status, std::string_view detail) {
    const auto* const kind = std::ranges::find(kinds, status, &ProblemKind::status);
    PAWL_ASSERT(kind != kinds.end());
    Problem problem{.type = kind->type, .detail = std::string{detail}};
    if (status == 503) problem.retry_after = std::chrono::seconds{1};
    return problem_reply(problem);
}

std::string problem_type(const Reply& reply) {
    const auto type = std::ranges::find(reply.headers, "Content-Type", &Header::name);
    if (type == reply.headers.end() || !type->value.starts_with("application/problem+json"))
        return {};
    constexpr std::string_view member = R"("type":")";
    constexpr std::string_view ours = "/errors/";
    constexpr std::size_t length_max = 100;
    const auto at = reply.body.find(member);
    if (at == reply.body.npos) return {};
    auto found = std::string_view{reply.body}.substr(at + member.size());
    found = found.substr(0, found.find('"'));
    if (found.starts_with(ours)) found.remove_prefix(ours.size());
    return std::string{found.substr(0, length_max)};
}

Reply internal_error(const std::exception* thrown) {
    log::limited_error(
        "request_failed",
        {{"detail",
          thrown != nullptr ? thrown->what() : "an exception that is not a std::exception"}}
    );
    return reply_to(engine::Rejection{.reason = engine::Reason::internal}, 422);
}

Reply unauthorized(const std::string& realm) {
    auto reply = problem_reply({.type = "unauthorized"});
    reply.headers.push_back({"WWW-Authenticate", "Bearer realm=\"" + realm + "\""});
    return reply;
}

}  // namespace pawl::http
