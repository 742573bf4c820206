#include "tests/simulation/checks.hpp"

#include <algorithm>

namespace pawl::simulation {

// Each job of a paid order had its effect once, or is dead, or was purged.
void Checks::check_jobs_of(const std::string& who, const Had& had) {
    const auto dead = texts("SELECT kind || args FROM pawl_dead_jobs");
    const auto is_of = [&](std::string_view kind, const std::string& text) {
        return text.starts_with(kind) && text.find('"' + who + '"') != std::string::npos;
    };
    const auto is_purged = [&](std::string_view kind) {
        return std::any_of(purged_.begin(), purged_.end(), [&](const std::string& text) {
            return is_of(kind, text);
        });
    };
    const auto is_there = [&](std::string_view kind) {
        for (const auto& [id, job] : world_.broker.jobs)
            if (is_of(kind, job.job.kind + job.job.args)) return true;
        return std::any_of(dead.begin(), dead.end(), [&](const std::string& text) {
            return is_of(kind, text);
        });
    };
    const auto parcels = texts("SELECT who FROM parcels");
    const auto of_receiver = [&](Receiver& receiver) {
        const auto at = receiver.effects.find(who);
        return at == receiver.effects.end() ? 0 : static_cast<int>(at->second.size());
    };
    // The receiver knows the job's id, but forgets ids after a day.
    const bool twice_in_days = world_.broker.has_twice() && had.days;
    const auto check = [&](std::string_view kind, int effects) {
        if (twice_in_days && kind == Tell::kind) return;
        if (effects > 1)
            violated("I8", std::to_string(effects) + " times " + std::string{kind} + " for " + who);
        if (effects == 0 && !is_there(kind) && !is_purged(kind))
            violated("I7", "the " + std::string{kind} + " job of " + who + " is lost");
        // Mark and effect commit together: both at once is impossible. Only of a job that was
        // pushed twice may one entry die while a worker that was slow is at the other (seed
        // 771473).
        if (effects == 1 && kind == Pack::kind && is_there(kind) && !world_.broker.has_twice())
            violated(
                "I7", "the " + std::string{kind} + " job of " + who + " is done, but is still there"
            );
    };
    check(Pack::kind, static_cast<int>(std::count(parcels.begin(), parcels.end(), who)));
    check(Tell::kind, of_receiver(world_.mail));
    check(Ship::kind, of_receiver(world_.carrier));
}

}  // namespace pawl::simulation
