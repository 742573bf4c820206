#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Whether the servers of one database have the same settings.
namespace pawl::core {

struct Setting {
    std::string name;   // "lease"
    std::string value;  // "30000 ms"; of a secret a digest.
};
using Settings = std::vector<Setting>;

struct ServerSettings {
    std::int64_t server{};
    Settings settings;
};

struct SettingDifference {
    std::string name;
    std::string here;
    std::string there;
    std::vector<std::int64_t> servers;  // That have `there`.
};

// One for each name and other value, in the order of `here`. Only names that both sides have
// count: a server of another release may have others.
std::vector<SettingDifference> compare_settings(
    const Settings& here, const std::vector<ServerSettings>& others
);

// nullptr: it has no such setting.
const std::string* find_setting(const Settings& settings, std::string_view name);
// Of a setting such as "30000 ms"; 0: it has no such setting, or not in this form.
std::chrono::milliseconds length_of(const Settings& settings, std::string_view name);
bool has_value(const Settings& settings, std::string_view value);

}  // namespace pawl::core
