#pragma once

// Texts: UTF-8, JSON strings, and excerpts of a client's text for error messages.

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl::base {

// Bytes of the UTF-8 character that `text` begins with; 0: malformed, or empty.
std::size_t character_length(std::string_view text);
bool is_utf8(std::string_view text);  // No overlong form, no surrogate, nothing above U+10FFFF.

// A JSON string by RFC 8785, 3.2.2.2: with the fewest and shortest escapes.
void append_string(std::string& out, std::string_view utf8);

// The beginning of the text, at most so many bytes, cut between characters.
std::string_view cut(std::string_view utf8, std::size_t bytes_max);

// At most 40 bytes of a client's text.
std::string excerpt(std::string_view utf8);

// The order of RFC 8785, 3.2.3: by UTF-16 code units. UTF-8 bytes give the same order, except that
// characters from U+10000 on come before U+E000 to U+FFFF.
bool utf16_less(std::string_view a, std::string_view b);

}  // namespace pawl::base
