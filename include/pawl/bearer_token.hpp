#pragma once

#include <pawl/request_head.hpp>

#include <optional>
#include <string_view>

namespace pawl {

// The token of the only Authorization header, `Bearer TOKEN` (RFC 6750): the scheme in any case
// and any number of spaces behind it, as RFC 9110, 11.1 asks. nullopt: no such header, another
// scheme, or no token. A view of the head.
std::optional<std::string_view> bearer_token(const RequestHead& head);

}  // namespace pawl
