#pragma once

#include <pawl/detail/session.hpp>

#include <string>
#include <string_view>

// A job's failures and merges as a JSON list, in the embedded queue's format:
// [{"at":"2027-01-15T08:00:00.000Z","error":"..."},{"at":"...","merged_by":"ann"}]
// Keeps the first entry and the last twenty, fewer if they are long: each retry carries them in a
// header.
namespace pawl::queue::kafka {

inline constexpr std::size_t history_bytes_max = 32'768;

// A text of another format counts as an empty history. The error is storable
// (base::sanitized_error).
std::string with_failure(std::string_view history, TimePoint at, std::string_view error);
std::string with_merge(std::string_view history, TimePoint at, std::string_view by);

}  // namespace pawl::queue::kafka
