#pragma once

#include "src/core/quota.hpp"
#include "src/engine/answer.hpp"
#include "src/http/listener.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pawl::http {

// What the errors of one type have in common.
struct ProblemKind {
    std::string_view type;  // "in-progress"; a path of docs/http.md: "/errors/in-progress".
    int status{};
    bool retry{};  // The same request, with the same key, may succeed later.
    std::string_view title;
};
// All kinds. docs/http.md has a row for each type (problem_test.cpp).
std::span<const ProblemKind> problem_kinds();

// One error, sent as application/problem+json (RFC 9457).
struct Problem {
    std::string_view type;     // Of one of problem_kinds(): asserted.
    int status{};              // 0: of the first kind of the type.
    std::string_view title{};  // Empty: the kind's.
    std::string detail{};      // For the client: never a statement, a path or a secret.
    std::optional<std::chrono::seconds> retry_after{};
    std::string code{};  // PAWL0007
};
Reply problem_reply(const Problem& problem);

// The engine's answer as an HTTP response. `key_reused_status` is 422, 409 or 400.
Reply reply_to(engine::Answer answer, int key_reused_status);

// The request was not started, so the key is unchanged.
Reply quota_exceeded(const core::OverQuota& why);
std::string_view limit_name(core::OverQuota::Limit limit);  // For logs.

// Errors of the listener: 400, 408, 413, 414, 431, 501, 503, 505, and of the routes: 404, 405, 412
// and 415.
Reply refusal(int status, std::string_view detail);

// "in-progress" of a problem, the service's own or the application's; empty: it is none.
std::string problem_type(const Reply& reply);

Reply unauthorized(const std::string& realm);

// Logs request_failed: the application's code threw (authenticate, a request's problem(), encoding
// it) before any work was done. nullptr: what is not a std::exception.
Reply internal_error(const std::exception* thrown);

}  // namespace pawl::http
