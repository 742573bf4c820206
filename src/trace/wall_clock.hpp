#pragma once

#include "src/base/clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pawl::trace {

// Times of spans: the steady clock's, so that the spans of one trace keep their order and lengths
// to the nanosecond, moved to the wall clock. It follows the wall clock when that is set.
// Thread-safe.
class WallClock {
public:
    explicit WallClock(base::Clock& clock) : clock_{clock}, offset_ns_{measured()} {}

    // Nanoseconds since 1970.
    std::int64_t at(std::chrono::steady_clock::time_point time) {
        constexpr std::int64_t apart_max = 100'000'000;
        const auto now = measured();
        const auto apart = now - offset_ns_;
        if (apart > apart_max || apart < -apart_max) offset_ns_ = now;
        return std::chrono::nanoseconds{time.time_since_epoch()}.count() + offset_ns_;
    }

private:
    std::int64_t measured() const {
        const std::chrono::nanoseconds wall{clock_.now().time_since_epoch()};
        return (wall - std::chrono::nanoseconds{clock_.steady().time_since_epoch()}).count();
    }

    base::Clock& clock_;
    std::atomic<std::int64_t> offset_ns_;
};

}  // namespace pawl::trace
