#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::base {

// An error that every store accepts: UTF-8 without NUL, at most 2,000 bytes. Other bytes become
// '?', so that a job can be dead-lettered whatever its exception says.
std::string sanitized_error(std::string_view error);

// "text: why", or the text alone.
std::string with_reason(std::string text, std::string_view why);

// Adds to the error of one try that an earlier try of the request may have made the call, so that
// an operator does not read "nothing was charged". The earlier call comes first, as a long error is
// cut at its end. Idempotent.
std::string with_earlier_call(std::string error, std::optional<TimePoint> earlier_call);

// The common part of errors with one cause: the first line, with quoted text as "?" and each word
// that contains a digit as '#', except numbers from 100 to 599, which are mostly a status (HTTP,
// SMTP). At most 120 bytes of whole UTF-8 characters.
std::string error_kind(std::string_view error);

}  // namespace pawl::base
