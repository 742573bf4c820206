#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace date {
class time_zone;
}

// When a periodic job is due: the time fields of a crontab line, as Debian's cron (3.0pl1) reads
// them. Text that Debian's cron accepts and then ignores is refused here: a range that ends before
// it begins, and characters after an entry, as in "5.5".
//
// When the clock changes by less than 3 hours (cron(8)): a time that the change skips is due once,
// right after the change, however many times of the entry were skipped; a time that the change
// repeats is due only at first. But if the minute or the hour field begins with *, the entry
// follows the clock on the wall: due in both repeated hours, and not for a skipped hour.
namespace pawl::core {

struct CronProblem {
    std::string message;  // For the operator: the field, its text and its limits.
};

// From parse_cron(); a default one is never due. Bit n of a field is set if the field matches n.
struct Cron {
    std::uint64_t minutes{};
    std::uint64_t hours{};
    std::uint64_t days{};
    std::uint64_t months{};
    std::uint64_t weekdays{};  // 0: Sunday.
    // A day that matches one of the two day fields is enough. False if one of them begins with *,
    // even as */2: then a day must match both.
    bool either_day{};
    bool follows_wall_clock{};  // The minute or the hour field begins with *.
};

// Five fields, or @hourly and the like; at most 200 bytes. Refuses what is never due: 30 February.
std::variant<Cron, CronProblem> parse_cron(std::string_view text);

struct TimeZone {
    const date::time_zone* rules{};  // Of the date library, which never frees it. nullptr: UTC.
};

// By its name in the system's database (the package tzdata), such as "Europe/Berlin". The empty
// name is UTC; UTC needs no database. The database's changes of the clock end with 2037; those of
// later years follow the same rules.
std::variant<TimeZone, CronProblem> find_time_zone(std::string_view name);

// The first time after `after`, which is at least 1970, at which the entry is due.
// TimePoint::max(): never, or `after` is not before the year 10000.
TimePoint next_tick(const Cron& cron, const TimeZone& zone, TimePoint after);

}  // namespace pawl::core
