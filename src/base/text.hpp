#pragma once

// Texts: UTF-8, JSON strings, and what of a client's text may be said back to it.

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl::base {

// Bytes of the UTF-8 character that `text` begins with; 0: malformed, or empty.
std::size_t character_length(std::string_view text);
bool is_utf8(std::string_view text);  // No overlong form, no surrogate, nothing above U+10FFFF.

// As a JSON string by RFC 8785, 3.2.2.2: escaped is only what must be, in the shortest form.
void append_string(std::string& out, std::string_view utf8);

// At most 40 characters (bytes, cut at a character's border) of what a client sent.
std::string excerpt(std::string_view utf8);

// The order of RFC 8785, 3.2.3: by UTF-16 code units. UTF-8 bytes give the same but for characters
// from U+10000 on, which stand before U+E000 to U+FFFF.
bool utf16_less(std::string_view a, std::string_view b);

}  // namespace pawl::base
