#pragma once

#include <algorithm>
#include <string_view>

namespace pawl::http {

// RFC 9110, 8.6: digits only; a number that fits into 63 bits.
inline bool is_content_length(std::string_view value) {
    return !value.empty() && value.size() <= 18 &&
           std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace pawl::http
