#include "src/core/retry_layers.hpp"

#include <cstddef>

namespace pawl::core {

AfterFailure decide_after_job_failure(
    const std::vector<std::chrono::milliseconds>& layers, int failures, double dice
) noexcept {
    if (failures < 1 || static_cast<std::size_t>(failures) > layers.size()) return NoMoreTries{};
    return TryAgainIn{scaled(layers[static_cast<std::size_t>(failures) - 1], 1.0 + 0.1 * dice)};
}

}  // namespace pawl::core
