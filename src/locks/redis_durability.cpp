#include "src/locks/redis_durability.hpp"

#include <array>

namespace pawl::locks {

namespace {

struct Asked {
    std::string_view name;
    const std::optional<std::string>& is;
    std::string_view must_be;
};

}  // namespace

std::optional<std::string> fence_problem_of(const RedisState& state, std::string_view place) {
    const std::array all{
        Asked{"maxmemory-policy", state.maxmemory_policy, "noeviction"},
        Asked{"appendonly", state.appendonly, "yes"},
        Asked{"appendfsync", state.appendfsync, "always"},
        Asked{"no-appendfsync-on-rewrite", state.no_appendfsync_on_rewrite, "no"},
        Asked{"role", state.role, "master"},
        // After a failover a replica goes on without the last writes.
        Asked{"connected_slaves", state.connected_slaves, "0"}};
    for (const auto& [name, is, must_be] : all) {
        if (is == must_be) continue;
        return "PAWL0030: the Redis at " + std::string{place} +
               (is ? " says " + std::string{name} + " = " + *is
                   : " does not say its " + std::string{name}) +
               ", and must say " + std::string{must_be} +
               ", or it may give an epoch again: what it has are efficiency leases "
               "(EfficiencyLeases), which guard nothing";
    }
    return std::nullopt;
}

}  // namespace pawl::locks
