#pragma once

#include <pawl/detail/session.hpp>

#include "src/core/cron.hpp"

#include <optional>

// What a server does about the next tick of a periodic job.
namespace pawl::core {

struct TickDecision {
    TimePoint next_at{};             // The next tick from now on; the stored one if nothing is due.
    std::optional<TimePoint> run{};  // The tick to stage a job for.
    bool advance{};                  // The stored tick must be replaced by next_at.
};

// A tick later than this was missed: no server was there to run it.
inline constexpr std::chrono::minutes tick_is_missed_after{1};

// `stored` is the next tick as the database has it. Ticks that were missed run once for all, as the
// first of them, or not at all if `skip_missed`. A tick more than a day later than the next one can
// be was written by a wrong clock, and is replaced; a clock set back by less runs no tick twice.
TickDecision decide_tick(
    const Cron& cron, const TimeZone& zone, bool skip_missed, TimePoint stored, TimePoint now
);

}  // namespace pawl::core
