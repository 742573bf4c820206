#include "src/engine/provider_watch.hpp"

namespace pawl::engine {

ProviderChange ProviderWatch::ended(std::string_view target, bool answered) {
    const std::lock_guard lock{mutex_};
    auto at = failures_.find(target);
    if (answered) {
        if (at == failures_.end()) return ProviderChange::none;
        const bool was_down = at->second >= failures_max;
        failures_.erase(at);
        any_ = !failures_.empty();
        return was_down ? ProviderChange::up : ProviderChange::none;
    }
    if (at == failures_.end()) {
        if (failures_.size() >= known_max) return ProviderChange::none;
        at = failures_.emplace(target, 0).first;
        any_ = true;
    }
    return ++at->second == failures_max ? ProviderChange::down : ProviderChange::none;
}

}  // namespace pawl::engine
