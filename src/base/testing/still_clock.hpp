#pragma once

#include "src/base/clock.hpp"

namespace pawl::base {

// Time moves only by the test.
class StillClock final : public Clock {
public:
    TimePoint now() override { return wall; }
    std::chrono::steady_clock::time_point steady() override { return at; }
    void advance(std::chrono::milliseconds by) {
        wall += by;
        at += by;
    }

    TimePoint wall{std::chrono::seconds{1'700'000'000}};
    std::chrono::steady_clock::time_point at{std::chrono::hours{1}};
};

}  // namespace pawl::base
