#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl::base {

// Where the parameters of a URL begin: its first '?' behind user and password, which may have one
// in them; its length if there are none. As libpq reads it.
std::size_t parameters_at(std::string_view url);

// A URL of a database or queue as a log may show it: without its password.
std::string without_password(const std::string& url);

}  // namespace pawl::base
