#include "src/core/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace pawl::core {

std::chrono::milliseconds exponential_backoff(
    std::chrono::milliseconds first, std::chrono::milliseconds longest, int times
) noexcept {
    const double whole =
        static_cast<double>(first.count()) * std::pow(2.0, std::clamp(times, 0, 30));
    // Compared as a double: a doubled day does not fit an integer otherwise.
    if (whole >= static_cast<double>(longest.count())) return longest;
    return std::chrono::milliseconds{std::llround(whole)};
}

std::chrono::milliseconds scaled(std::chrono::milliseconds wait, double factor) noexcept {
    return std::chrono::milliseconds{std::llround(static_cast<double>(wait.count()) * factor)};
}

}  // namespace pawl::core
