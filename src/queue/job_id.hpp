#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace pawl::queue {

// As long as a client's key may be: an operation takes it as one.
inline constexpr std::size_t jid_max = 255;

// Whether what came from outside may be a job's id. It stands in the inbox and in logs: printed
// ASCII without a space (PostgreSQL takes no NUL).
inline bool can_be_jid(std::string_view id) {
    return !id.empty() && id.size() <= jid_max &&
           std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

}  // namespace pawl::queue
