#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>
#include <cstdint>

namespace pawl::core {

// Time and chance are passed in: the real ones live in src/engine/clock.cpp and random.cpp, tests
// bring their own.
class Clock {
public:
    virtual ~Clock() = default;
    virtual TimePoint now() = 0;                                 // Of the wall, UTC.
    virtual std::chrono::steady_clock::time_point steady() = 0;  // For deadlines and time-outs.
};

class Random {
public:
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;  // Any 64 bits; from several threads at once.
    double dice() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }  // In [0, 1).
};

}  // namespace pawl::core
