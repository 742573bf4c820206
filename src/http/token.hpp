#pragma once

#include <algorithm>
#include <string_view>

namespace pawl::http {

// RFC 9110, 5.6.2: the syntax of methods and header names.
inline bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               marks.find(c) != marks.npos;
    });
}

}  // namespace pawl::http
