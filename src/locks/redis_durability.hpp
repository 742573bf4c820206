#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::locks {

// What a Redis says of itself; what it does not say is nothing.
struct RedisState {
    std::optional<std::string> maxmemory_policy;
    std::optional<std::string> appendonly;
    std::optional<std::string> appendfsync;
    std::optional<std::string> no_appendfsync_on_rewrite;
    std::optional<std::string> role;
    std::optional<std::string> connected_slaves;  // As INFO calls it.
};

// Why an epoch that it has given may be given again (PAWL0030); nothing if it keeps, alone and on
// its disk, all that it has acknowledged.
std::optional<std::string> fence_problem_of(const RedisState& state, std::string_view place);

}  // namespace pawl::locks
