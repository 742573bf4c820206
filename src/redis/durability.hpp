#pragma once

#include "src/base/warning.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis {

// The settings that a Redis reports; nullopt: not reported.
struct Settings {
    std::optional<std::string> maxmemory_policy;  // CONFIG, or INFO memory.
    std::optional<std::string> appendonly;        // "yes", "no".
    std::optional<std::string> appendfsync;       // "always", "everysec", "no".
    // Of fences alone.
    std::optional<std::string> no_appendfsync_on_rewrite{};
    std::optional<std::string> role{};
    std::optional<std::string> connected_slaves{};
};

// Why this Redis must not hold jobs (PAWL0011); nullopt: it may.
std::optional<std::string> refusal_of(const Settings& settings, std::string_view place);
// What is lost if the machine fails (PAWL0012); nullopt: nothing.
std::optional<base::Warning> warn_of(const Settings& settings, std::string_view place);

// Why this Redis might give an epoch twice (PAWL0030); nullopt: it is alone and keeps on disk all
// that it has acknowledged.
std::optional<std::string> fence_problem_of(const Settings& settings, std::string_view place);

// The value of "maxmemory_policy:noeviction\r\n" in INFO's reply.
std::optional<std::string> info_field(std::string_view info, std::string_view name);

}  // namespace pawl::redis
