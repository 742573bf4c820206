#pragma once

#include "src/core/ascii.hpp"

#include <algorithm>
#include <string_view>

// The syntax of HTTP's header fields.
namespace pawl::http {

// RFC 9110, 5.6.2: the syntax of methods and header names.
inline bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return core::is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               marks.find(c) != marks.npos;
    });
}

// Tab is white space in a header; bytes above ASCII are allowed as obs-text (RFC 9110, 5.5).
inline bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return (c >= 0 && c < ' ' && c != '\t') || c == '\x7F';
    });
}

// RFC 9110, 8.6: digits only; a number that fits into 63 bits.
inline bool is_content_length(std::string_view value) {
    return !value.empty() && value.size() <= 18 && core::are_digits(value);
}

}  // namespace pawl::http
