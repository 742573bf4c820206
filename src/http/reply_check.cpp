#include "src/http/reply_check.hpp"

#include "src/base/log.hpp"
#include "src/core/ascii.hpp"
#include "src/http/field_syntax.hpp"
#include "src/http/problem.hpp"

#include <algorithm>
#include <array>

namespace pawl::http {

namespace {

// Headers that the listener writes itself.
constexpr std::array<std::string_view, 6> listeners_own{
    "Connection", "Content-Length", "Date", "Keep-Alive", "Transfer-Encoding", "Upgrade"};

bool is_listeners_own(std::string_view name) {
    return std::ranges::any_of(listeners_own, [&](auto own) {
        return core::same_without_case(own, name);
    });
}

}  // namespace

std::optional<std::string> problem_of(const Reply& reply) {
    if (reply.status < 200 || reply.status > 599)
        return "its status is " + std::to_string(reply.status) + ": 200 to 599";
    for (const auto& header : reply.headers) {
        if (!is_token(header.name)) return "the name of a header is not a valid token";
        if (is_listeners_own(header.name)) return "it must not set the header " + header.name;
        if (has_control(header.value))
            return "the header " + header.name + " has a control character";
    }
    return std::nullopt;
}

Reply sendable(Reply reply, std::string_view route) {
    const auto problem = problem_of(reply);
    if (!problem) return reply;
    log::limited_error("response_invalid", {{"route", route}, {"detail", *problem}});
    return reply_to(engine::Rejection{.reason = engine::Reason::internal}, 422);
}

}  // namespace pawl::http
