#include "src/core/completer_cap.hpp"

namespace pawl::core {

AfterFailure decide_after_completer_failure(
    const CompleterCap& cap,
    RunFailure why,
    int runs,
    TimePoint first_at,
    TimePoint now,
    double dice
) noexcept {
    const bool too_often = runs >= cap.runs_max && now - first_at >= cap.at_least;
    if (too_often && why != RunFailure::not_recorded) return NoMoreTries{};
    const auto longest = why == RunFailure::outage ? cap.wait_max : cap.defect_wait_max;
    const auto wait = exponential_backoff(cap.wait_first, longest, runs - 1);
    return TryAgainIn{scaled(wait, 1.0 - 0.5 * dice)};
}

}  // namespace pawl::core
