#pragma once

#include "src/core/clock.hpp"

namespace pawl::engine {

// The real clock; the one place where time is read.
core::Clock& system_clock();

}  // namespace pawl::engine
