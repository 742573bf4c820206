#pragma once

#include <sys/types.h>

#include <string>

namespace pawl::base {

// Files that we write are readable by our own user only, as their content is private.
inline constexpr mode_t private_mode = 0600;

// Whether every user of the machine can read the file; false: no such file.
bool others_can_read(const std::string& path);

}  // namespace pawl::base
