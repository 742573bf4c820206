#pragma once

#include <sys/types.h>

#include <string>

namespace pawl::base {

// What we write may be read by our own user alone: rows, answers and addresses are private.
inline constexpr mode_t private_mode = 0600;

// Whether every user of the machine can read the file; false if there is none.
bool others_can_read(const std::string& path);

}  // namespace pawl::base
