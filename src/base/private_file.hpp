#pragma once

#include <sys/types.h>

namespace pawl::base {

// Files that we write are readable by our own user only, as their content is private.
inline constexpr mode_t private_mode = 0600;

}  // namespace pawl::base
