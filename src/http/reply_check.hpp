#pragma once

#include "src/http/listener.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

// Why a reply of the application can't be sent; nullopt if it can. A line end in a header would let
// an attacker begin a response of his own (RFC 9110, 5.5; CWE-113); a second Content-Length would
// end this one elsewhere.
std::optional<std::string> problem_of(const Reply& reply);

// Returns the reply, or a 500 and a line in the log if it can't be sent. `route` is its pattern,
// for the log.
Reply sendable(Reply reply, std::string_view route);

}  // namespace pawl::http
