#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>
#include <cstdint>

namespace pawl::core {

// Time and randomness are passed in. For the real ones see src/engine/clock.cpp and random.cpp.
class Clock {
public:
    virtual ~Clock() = default;
    virtual TimePoint now() = 0;                                 // The wall clock, UTC.
    virtual std::chrono::steady_clock::time_point steady() = 0;  // For deadlines and time-outs.
};

class Random {
public:
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;  // Any 64 bits; thread-safe.
    double dice() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }  // In [0, 1).
};

}  // namespace pawl::core
