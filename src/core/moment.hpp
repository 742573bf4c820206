#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>

namespace pawl::core {

// When a lease was taken, by both clocks of its holder: a wall clock may be set back, and a steady
// clock stops while the machine sleeps.
struct Moment {
    TimePoint wall;
    std::chrono::steady_clock::time_point steady;
};

}  // namespace pawl::core
