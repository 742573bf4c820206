#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl::base {

// Where a URL's parameters begin: its first '?' after user and password, which may contain one; its
// length if there are none. As in libpq.
std::size_t parameters_at(std::string_view url);

// A URL of a database or queue for the log, without its password.
std::string without_password(const std::string& url);

}  // namespace pawl::base
