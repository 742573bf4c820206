#pragma once

#include "src/core/moment.hpp"

#include <chrono>

namespace pawl::base {

// Time is passed in, so that tests bring their own.
class Clock {
public:
    virtual ~Clock() = default;
    virtual TimePoint now() = 0;                                 // The wall clock, UTC.
    virtual std::chrono::steady_clock::time_point steady() = 0;  // For deadlines and time-outs.
    core::Moment moment() { return {now(), steady()}; }
};

// The real clock; time is read nowhere else.
Clock& system_clock();

}  // namespace pawl::base
