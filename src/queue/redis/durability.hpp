#pragma once

#include "src/core/remark.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::queue::redis {

// The settings that a Redis reports; nullopt: not reported.
struct Settings {
    std::optional<std::string> maxmemory_policy;  // CONFIG, or INFO memory.
    std::optional<std::string> appendonly;        // "yes", "no".
    std::optional<std::string> appendfsync;       // "always", "everysec", "no".
};

// Why this Redis must not hold jobs (PAWL0011); nullopt: it may.
std::optional<std::string> refusal_of(const Settings& settings, std::string_view place);
// What is lost if the machine fails (PAWL0012); nullopt: nothing.
std::optional<core::Remark> remark_on(const Settings& settings, std::string_view place);

// The value of "maxmemory_policy:noeviction\r\n" in INFO's reply.
std::optional<std::string> info_field(std::string_view info, std::string_view name);

}  // namespace pawl::queue::redis
