#pragma once

#include <pawl/detail/session.hpp>

#include <string>

namespace pawl::http {

// RFC 9110, 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(TimePoint at);

}  // namespace pawl::http
