#include "src/core/completer_cap.hpp"

namespace pawl::core {

AfterFailure decide_after_completer_failure(
    const CompleterCap& cap, int runs, TimePoint first_at, TimePoint now, double dice
) noexcept {
    if (runs >= cap.runs_max && now - first_at >= cap.at_least) return NoMoreTries{};
    const auto wait = exponential_backoff(cap.wait_first, cap.wait_max, runs - 1);
    return TryAgainIn{scaled(wait, 1.0 - 0.5 * dice)};
}

}  // namespace pawl::core
