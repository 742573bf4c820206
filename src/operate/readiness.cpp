#include "src/operate/readiness.hpp"

#include <algorithm>

namespace pawl::operate {

Readiness decide_readiness(const ReadinessFacts& facts) {
    Readiness found;
    const auto check = [&](std::string name, bool ok, std::string detail) {
        found.checks.push_back({std::move(name), ok, ok ? std::string{} : std::move(detail)});
    };
    check("started", facts.started, "the service has not started yet");
    check("serving", !facts.stopping, "the server is stopping");
    check("store", !facts.store_down, facts.store_down.value_or(""));
    if (facts.disk)
        check(
            "disk",
            facts.disk->free >= facts.disk_free_min,
            std::to_string(facts.disk->free) + " bytes are free of " +
                std::to_string(facts.disk->size) + ": at least " +
                std::to_string(facts.disk_free_min)
        );
    std::string missing;
    for (const auto& name : facts.migrations_missing)
        missing += (missing.empty() ? "" : ", ") + name;
    check("migrations", missing.empty(), "the database does not have " + missing);
    check("jobs", !facts.jobs_unreadable, facts.jobs_unreadable.value_or(""));
    found.ready = std::ranges::all_of(found.checks, &Check::ok);
    return found;
}

}  // namespace pawl::operate
