#include "src/core/background_retry.hpp"

#include <algorithm>
#include <cmath>

namespace pawl::core {

namespace {

std::chrono::milliseconds scaled(std::chrono::milliseconds wait, double factor) {
    return std::chrono::milliseconds{std::llround(static_cast<double>(wait.count()) * factor)};
}

}  // namespace

std::chrono::milliseconds grown(
    std::chrono::milliseconds first, std::chrono::milliseconds longest, int times
) noexcept {
    const double whole =
        static_cast<double>(first.count()) * std::pow(2.0, std::clamp(times, 0, 30));
    // Compared as a double: a doubled day does not fit an integer otherwise.
    if (whole >= static_cast<double>(longest.count())) return longest;
    return std::chrono::milliseconds{std::llround(whole)};
}

AfterFailure decide_after_completer_failure(
    const CompleterCap& cap, int runs, TimePoint first_at, TimePoint now, double dice
) noexcept {
    if (runs >= cap.runs_max && now - first_at >= cap.at_least) return CapReached{};
    return TryAgainIn{scaled(grown(cap.first_wait, cap.longest_wait, runs - 1), 1.0 - 0.5 * dice)};
}

AfterFailure decide_after_job_failure(
    const std::vector<std::chrono::milliseconds>& layers, int failures, double dice
) noexcept {
    if (failures < 1 || static_cast<std::size_t>(failures) > layers.size()) return CapReached{};
    return TryAgainIn{scaled(layers[static_cast<std::size_t>(failures) - 1], 1.0 + 0.1 * dice)};
}

}  // namespace pawl::core
