#pragma once

#include "src/base/text.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace pawl::locks {

inline constexpr std::size_t name_max = 200;

// Names go into rows and messages: 1 to 200 bytes of UTF-8 without NUL, which PostgreSQL refuses.
inline void check_name(const char* kind, std::string_view name) {
    if (!base::is_utf8(name))
        throw std::invalid_argument{"pawl: the name of a " + std::string{kind} + " is not UTF-8"};
    if (!name.empty() && name.size() <= name_max && name.find('\0') == name.npos) return;
    throw std::invalid_argument{
        "pawl: the name of a " + std::string{kind} + " has " + std::to_string(name.size()) +
        " bytes: 1 to " + std::to_string(name_max) + ", and no U+0000"};
}

}  // namespace pawl::locks
