#pragma once

#include "src/core/clock.hpp"

#include <cstddef>
#include <string>

namespace pawl::engine {

// Cryptographic, from the system, thread-safe; randomness comes from nowhere else.
core::Random& system_random();

std::string random_hex(core::Random& random, std::size_t digits);

}  // namespace pawl::engine
