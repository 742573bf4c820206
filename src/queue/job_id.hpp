#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace pawl::queue {

// The limit of a client's key: an operation accepts a job id as its key.
inline constexpr std::size_t jid_max = 255;

// Whether a text from outside may be a job id: printable ASCII without spaces, as it is stored in
// the inbox and written to logs (PostgreSQL refuses NUL).
inline bool can_be_jid(std::string_view id) {
    return !id.empty() && id.size() <= jid_max &&
           std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

}  // namespace pawl::queue
