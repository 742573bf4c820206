#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::base {

// An error as every store takes it: UTF-8 without NUL, at most 2,000 bytes. What is none becomes
// '?': an exception may say anything, and its job must be buried all the same.
std::string storable_error(std::string_view error);

// The error of one try, where an earlier try of the same request may have made the call: an
// operator must not read "nothing was charged" of the request. The earlier call comes first, as a
// long error is cut at its end. An error that begins so already stays as it is.
std::string with_earlier_call(std::string error, std::optional<TimePoint> earlier_call);

// What errors of one cause have in common, for people who look at many: the first line, in which
// quoted text becomes "?" and every word with a digit '#', but for numbers from 100 to 599, which
// are mostly a status (HTTP, SMTP). At most 120 bytes, never half a character of UTF-8.
std::string error_kind(std::string_view error);

}  // namespace pawl::base
