#pragma once

#include <string>

namespace pawl::store {

// What PAWL0009 says of PostgreSQL's settings that are off, such as "fsync = off".
inline std::string text_of_settings_off(const std::string& off) {
    return "the database says " + off +
           ": what was committed and answered is gone if it, or its machine, goes down, and a card "
           "may be charged twice. Set it to on, in postgresql.conf or for the database or the "
           "role, and restart";
}

}  // namespace pawl::store
