#pragma once

#include "src/http/listener.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

// Why a reply that the application's code made can't be sent; nothing if it can. A line end in a
// header would be the begin of an answer that an attacker wrote (RFC 9110, 5.5; CWE-113), a second
// Content-Length another end of this one.
std::optional<std::string> problem_of(const Reply& reply);

// The reply; in the place of one that can't be sent a 500, and a word in the log. `route`: its
// pattern, for the log.
Reply sendable(Reply reply, std::string_view route);

}  // namespace pawl::http
