#pragma once

#include "src/core/settings.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::engine {

// The settings that the servers of one database have in their rows of pawl_servers.

// The setting with the version of the secret that a server stores new keys under.
inline constexpr std::string_view secret_version_setting = "secret_version";

struct RunningServer {
    std::int64_t id{};
    std::string host;
    core::Settings settings;  // Empty: of a release before.
};
// The servers that run, without this one. A server that holds its session lock runs; without a
// lock, one that was seen a second ago at most. The only server of a SQLite file counts until
// the next one starts. Throws StoreError.
std::vector<RunningServer> running_servers(store::Session& session, const store::Store& store);

// As stored in pawl_servers.settings.
std::string to_text(const core::Settings& settings);
core::Settings parse_settings(std::string_view text);  // Empty: it is damaged.

std::vector<core::SettingDifference> compare_with(
    const core::Settings& here, const std::vector<RunningServer>& others
);
// The version of the secret that a server uses; nullopt: unknown.
std::optional<int> secret_version(const core::Settings& settings);

}  // namespace pawl::engine
