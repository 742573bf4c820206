#pragma once

#include <pawl/bank_file.hpp>

#include <string>
#include <string_view>

namespace pawl::bank {

// Of the one character that `utf8` is.
char32_t code_point(std::string_view utf8);
bool is_in(CharacterSet set, char32_t character);
// For people: "U+00E9".
std::string name_of(char32_t character);
// Why the set does not have a character: "which XML 1.0 does not allow".
std::string_view rule_of(CharacterSet set);

}  // namespace pawl::bank
