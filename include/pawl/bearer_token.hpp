#pragma once

#include <pawl/request_head.hpp>

#include <optional>
#include <string_view>

namespace pawl {

// The token of the only Authorization header, `Bearer TOKEN` (RFC 6750). The scheme's case and the
// number of spaces after it do not matter (RFC 9110, 11.1). nullopt: no such header, several,
// another scheme, or no token. The result is a view into `head`.
std::optional<std::string_view> bearer_token(const RequestHead& head);

}  // namespace pawl
