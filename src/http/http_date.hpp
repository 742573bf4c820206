#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

// RFC 9110, 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(TimePoint at);
// The same form only: clients have not sent the two obsolete forms since the nineties.
std::optional<TimePoint> parse_http_date(std::string_view text);

}  // namespace pawl::http
