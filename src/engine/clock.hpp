#pragma once

#include "src/core/clock.hpp"

namespace pawl::engine {

// The real clock; time is read nowhere else.
core::Clock& system_clock();

}  // namespace pawl::engine
