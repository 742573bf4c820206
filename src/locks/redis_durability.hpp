#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::locks {

// The settings that a Redis reports; nullopt: not reported.
struct RedisState {
    std::optional<std::string> maxmemory_policy;
    std::optional<std::string> appendonly;
    std::optional<std::string> appendfsync;
    std::optional<std::string> no_appendfsync_on_rewrite;
    std::optional<std::string> role;
    std::optional<std::string> connected_slaves;  // The name in INFO.
};

// Why this Redis might give an epoch twice (PAWL0030); nullopt: it is alone and keeps on disk all
// that it has acknowledged.
std::optional<std::string> fence_problem_of(const RedisState& state, std::string_view place);

}  // namespace pawl::locks
