#pragma once

#include <pawl/detail/session.hpp>

#include <string>
#include <string_view>

// What befell a job, as a JSON list, in the form in which the embedded queue's statements keep it:
// [{"at":"2027-01-15T08:00:00.000Z","error":"..."},{"at":"...","merged_by":"ann"}]. The first entry
// and the last twenty stay, and fewer where they are long: a header travels with each retry.
namespace pawl::queue::kafka {

inline constexpr std::size_t history_bytes_max = 32'768;

// What is no history counts as an empty one. The error is storable (base::storable_error).
std::string with_failure(std::string_view history, TimePoint at, std::string_view error);
std::string with_merge(std::string_view history, TimePoint at, std::string_view by);

}  // namespace pawl::queue::kafka
