#include "src/redis/durability.hpp"

#include <array>

namespace pawl::redis {

std::optional<std::string> refusal_of(const Settings& settings, std::string_view place) {
    if (settings.maxmemory_policy == "noeviction") return std::nullopt;
    const auto begin = "PAWL0011: the Redis at " + std::string{place};
    if (!settings.maxmemory_policy)
        return begin +
               " does not say its maxmemory-policy: let its user run CONFIG GET or INFO, so that "
               "Pawl can see that it is noeviction";
    return begin + " throws jobs away when its memory is full: maxmemory-policy is " +
           *settings.maxmemory_policy + ", and must be noeviction";
}

std::optional<base::Warning> warn_of(const Settings& settings, std::string_view place) {
    const bool always = settings.appendonly == "yes" && settings.appendfsync == "always";
    if (always) return std::nullopt;
    std::string detail = "the Redis at " + std::string{place};
    if (!settings.appendonly)
        detail += " does not say its appendonly and appendfsync";
    else if (settings.appendonly != "yes")
        detail += " says appendonly = " + *settings.appendonly;
    else if (!settings.appendfsync)
        detail += " does not say its appendfsync";
    else
        detail += " says appendfsync = " + *settings.appendfsync;
    detail +=
        ": with less than appendonly yes and appendfsync always, jobs that it has acknowledged may "
        "be lost with its machine";
    return base::Warning{"queue_not_durable", "PAWL0012", std::move(detail)};
}

std::optional<std::string> fence_problem_of(const Settings& settings, std::string_view place) {
    struct Asked {
        std::string_view name;
        const std::optional<std::string>& is;
        std::string_view must_be;
    };
    const std::array all{
        Asked{"maxmemory-policy", settings.maxmemory_policy, "noeviction"},
        Asked{"appendonly", settings.appendonly, "yes"},
        Asked{"appendfsync", settings.appendfsync, "always"},
        Asked{"no-appendfsync-on-rewrite", settings.no_appendfsync_on_rewrite, "no"},
        Asked{"role", settings.role, "master"},
        // After a failover a replica goes on without the last writes.
        Asked{"connected_slaves", settings.connected_slaves, "0"}};
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

std::optional<std::string> info_field(std::string_view info, std::string_view name) {
    const auto wanted = std::string{name} + ":";
    while (!info.empty()) {
        const auto line = info.substr(0, info.find_first_of("\r\n"));
        if (line.starts_with(wanted)) return std::string{line.substr(wanted.size())};
        info.remove_prefix(line.empty() ? 1 : line.size());
    }
    return std::nullopt;
}

}  // namespace pawl::redis
