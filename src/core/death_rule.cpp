#include "src/core/death_rule.hpp"

namespace pawl::core {

DeathRule decide_after_deaths(const DeathFacts& facts) noexcept {
    if (facts.deaths_before_alone && facts.deaths > *facts.deaths_before_alone) return NeverRun{};
    if (facts.deaths < deaths_shared_max) return RunShared{};
    if (facts.server_age >= calm_after) return RunAlone{};
    return RunLater{calm_after - facts.server_age};
}

}  // namespace pawl::core
