#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pawl::base {

// Random numbers are passed in, so that tests bring their own.
class Random {
public:
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;  // Any 64 bits; thread-safe.
    double dice() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }  // In [0, 1).
};

// Cryptographic, from the system, thread-safe; randomness comes from nowhere else.
Random& system_random();

std::string random_hex(Random& random, std::size_t digits);

}  // namespace pawl::base
