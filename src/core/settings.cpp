#include "src/core/settings.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::core {

std::vector<SettingDifference> compare_settings(
    const Settings& here, const std::vector<ServerSettings>& others
) {
    std::vector<SettingDifference> found;
    for (const auto& [name, value] : here) {
        const auto first = found.size();
        for (const auto& [server, settings] : others) {
            const auto* there = find_setting(settings, name);
            if (there == nullptr || *there == value) continue;
            const auto same = std::find_if(
                found.begin() + static_cast<std::ptrdiff_t>(first),
                found.end(),
                [&](const SettingDifference& one) { return one.there == *there; }
            );
            if (same != found.end())
                same->servers.push_back(server);
            else
                found.push_back({name, value, *there, {server}});
        }
    }
    return found;
}

const std::string* find_setting(const Settings& settings, std::string_view name) {
    const auto at = std::ranges::find(settings, name, &Setting::name);
    return at == settings.end() ? nullptr : &at->value;
}

std::chrono::milliseconds length_of(const Settings& settings, std::string_view name) {
    std::chrono::milliseconds::rep ms = 0;
    if (const auto* value = find_setting(settings, name))
        (void)std::from_chars(value->data(), value->data() + value->size(), ms);
    return std::chrono::milliseconds{ms};
}

bool has_value(const Settings& settings, std::string_view value) {
    return std::ranges::find(settings, value, &Setting::value) != settings.end();
}

}  // namespace pawl::core
