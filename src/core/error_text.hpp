#pragma once

#include <string>
#include <string_view>

namespace pawl::core {

// An error as every store takes it: UTF-8 without NUL, at most 2,000 bytes. What is none becomes
// '?': an exception may say anything, and its job must be buried all the same.
std::string storable_error(std::string_view error);

// What errors of one cause have in common, for people who look at many: the first line, in which
// quoted text becomes "?" and every word with a digit '#', but for numbers from 100 to 599, which
// are mostly a status (HTTP, SMTP). At most 120 bytes, never half a character of UTF-8.
std::string error_kind(std::string_view error);

}  // namespace pawl::core
