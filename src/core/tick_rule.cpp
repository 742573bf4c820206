#include "src/core/tick_rule.hpp"

namespace pawl::core {

using namespace std::chrono_literals;

TickDecision decide_tick(
    const Cron& cron, const TimeZone& zone, bool skip_missed, TimePoint stored, TimePoint now
) {
    if (stored > now) {
        if (stored <= next_tick(cron, zone, now + 24h)) return {.next_at = stored};
        return {.next_at = next_tick(cron, zone, now), .advance = true};
    }
    TickDecision due{.next_at = next_tick(cron, zone, now), .run = stored, .advance = true};
    if (!skip_missed) return due;
    // Ticks are whole minutes, so at most one of them is not missed.
    const auto last = next_tick(cron, zone, now - tick_is_missed_after);
    due.run = last <= now ? std::optional{last} : std::nullopt;
    return due;
}

}  // namespace pawl::core
