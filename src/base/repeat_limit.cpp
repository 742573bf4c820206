#include "src/base/repeat_limit.hpp"

#include <utility>

namespace pawl::base {

std::optional<std::int64_t> RepeatLimit::pass(Repeatable what, int burst, Time now) {
    if (windows_.size() >= rule_.known_max && !windows_.contains(what)) what.subject.clear();
    auto [at, is_new] = windows_.try_emplace(std::move(what), Window{.began = now});
    auto& window = at->second;
    std::int64_t held_back = 0;
    if (now - window.began >= rule_.window)
        held_back = std::exchange(window, {.began = now}).held_back;
    if (window.passed < burst) {
        ++window.passed;
        return held_back;
    }
    ++window.held_back;
    return std::nullopt;
}

std::vector<RepeatLimit::HeldBack> RepeatLimit::take_ended(Time now) {
    std::vector<HeldBack> found;
    std::erase_if(windows_, [&](const auto& known) {
        const auto& [what, window] = known;
        if (now - window.began < rule_.window) return false;
        if (window.held_back > 0) found.push_back({what, window.held_back});
        return true;
    });
    return found;
}

}  // namespace pawl::base
