#pragma once

#include "src/core/quota.hpp"
#include "src/engine/answer.hpp"
#include "src/http/listener.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pawl::http {

// An error as application/problem+json (RFC 9457), with a type of ours and whether to retry. `type`
// is a path of docs/http.md: "/errors/in-progress".
struct Problem {
    int status{};
    std::string_view type;   // "in-progress"
    std::string_view title;  // The same for each occurrence.
    std::string detail{};    // For the client: never a statement, a path or a secret.
    bool retry{};
    std::optional<std::chrono::seconds> retry_after{};
    std::string code{};  // PAWL0007
};
Reply problem_reply(const Problem& problem);  // Asserts that the problem is one of problem_kinds().

// All problems. docs/http.md has a row for each (problem_test.cpp).
struct ProblemKind {
    std::string_view type;
    int status{};
    bool retry{};  // The same request, with the same key, may succeed later.
};
std::span<const ProblemKind> problem_kinds();

// The engine's answer as an HTTP response. `key_reused_status` is 422, 409 or 400.
Reply reply_to(engine::Answer answer, int key_reused_status);

// The request was not started, so the key is unchanged.
Reply quota_exceeded(const core::OverQuota& why);
std::string_view limit_name(core::OverQuota::Limit limit);  // For logs.

// Errors of the listener: 400, 408, 413, 414, 431, 501, 503, 505, and of the routes: 404, 405, 412
// and 415.
Reply refusal(int status, std::string_view detail);

}  // namespace pawl::http
