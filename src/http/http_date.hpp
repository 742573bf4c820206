#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

// RFC 9110, 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(TimePoint at);
// All three forms: also RFC 850's "Sunday, 06-Nov-94 08:49:37 GMT", with a year of at most 50 after
// `now`, and asctime()'s "Sun Nov  6 08:49:37 1994".
std::optional<TimePoint> parse_http_date(std::string_view text, TimePoint now);

}  // namespace pawl::http
