#pragma once

#include <string>

namespace pawl {

// Text from outside, for a terminal. Characters that a terminal obeys instead of showing them
// become \u001b and the like: C0 except tab and the ends of lines (LF, CR LF), DEL, C1, and those
// that change the direction of the text or break its line (U+061C, U+200E, U+200F, U+2028 to
// U+202E, U+2066 to U+2069). In a JSON string that is the same text. Bytes that are not UTF-8
// become U+FFFD. The commands of command_line() print everything so.
std::string visible_text(std::string text);

}  // namespace pawl
