#include "src/engine/provider_watch.hpp"

namespace pawl::engine {

ProviderChange ProviderWatch::ended(
    std::string_view target, bool answered, TimePoint now, std::string_view error
) {
    const std::lock_guard lock{mutex_};
    auto at = failing_.find(target);
    if (answered) {
        if (at == failing_.end()) return ProviderChange::none;
        const bool was_down = at->second.health.down_since.has_value();
        failing_.erase(at);
        any_ = !failing_.empty();
        return was_down ? ProviderChange::up : ProviderChange::none;
    }
    if (at == failing_.end()) {
        if (failing_.size() >= known_max) return ProviderChange::none;
        at = failing_.emplace(target, Failing{{.target = std::string{target}}}).first;
        any_ = true;
    }
    auto& [health, last] = at->second;
    health.last_error = error;
    last = now;
    if (++health.failures != failures_max) return ProviderChange::none;
    health.down_since = now;
    return ProviderChange::down;
}

std::vector<ProviderHealth> ProviderWatch::down(TimePoint now) {
    std::vector<ProviderHealth> found;
    const std::lock_guard lock{mutex_};
    for (const auto& [target, failing] : failing_)
        if (failing.health.down_since && now - failing.last < forgotten_after)
            found.push_back(failing.health);
    return found;
}

}  // namespace pawl::engine
