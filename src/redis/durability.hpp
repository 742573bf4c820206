#pragma once

#include "src/base/remark.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis {

// What a Redis says of its settings; what it does not say is nothing.
struct Settings {
    std::optional<std::string> maxmemory_policy;  // CONFIG, or INFO memory.
    std::optional<std::string> appendonly;        // "yes", "no".
    std::optional<std::string> appendfsync;       // "always", "everysec", "no".
    // Of fences alone.
    std::optional<std::string> no_appendfsync_on_rewrite{};
    std::optional<std::string> role{};
    std::optional<std::string> connected_slaves{};
};

// Why jobs must not be trusted to this Redis (PAWL0011); nothing if they may.
std::optional<std::string> refusal_of(const Settings& settings, std::string_view place);
// What is lost with the machine (PAWL0012); nothing if that is nothing.
std::optional<base::Remark> remark_on(const Settings& settings, std::string_view place);

// Why an epoch that this Redis has given may be given again (PAWL0030); nullopt: it keeps, alone
// and on its disk, all that it has acknowledged.
std::optional<std::string> fence_problem_of(const Settings& settings, std::string_view place);

// "maxmemory_policy:noeviction\r\n" of what INFO answers.
std::optional<std::string> info_field(std::string_view info, std::string_view name);

}  // namespace pawl::redis
