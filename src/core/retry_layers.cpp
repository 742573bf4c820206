#include "src/core/retry_layers.hpp"

#include <algorithm>
#include <cstddef>

namespace pawl::core {

AfterFailure decide_after_job_failure(
    const std::vector<std::chrono::milliseconds>& layers,
    int failures,
    std::optional<int> attempts,
    double dice
) noexcept {
    const auto count = static_cast<int>(layers.size());
    const auto tries = attempts.value_or(count + 1);
    if (failures < 1 || failures >= tries || layers.empty()) return NoMoreTries{};
    const auto layer = static_cast<std::size_t>(std::min(failures, count)) - 1;
    return TryAgainIn{scaled(layers[layer], 1.0 + 0.1 * dice)};
}

}  // namespace pawl::core
