#include "src/core/cron.hpp"

#include <date/tz.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>  // Needs gtest before it.

#include <string>
#include <vector>

namespace pawl::core::cron_property_test {
namespace {

using namespace std::chrono_literals;

// A day in which the clock changes, and the day after: 23 to 25 hours, or 30 minutes less or more.
struct Change {
    const char* zone;
    date::sys_days day;
};
const std::vector<Change> changes{
    {"Europe/Berlin", date::sys_days{date::year{2026} / 3 / 28}},
    {"Europe/Berlin", date::sys_days{date::year{2026} / 10 / 24}},
    {"America/New_York", date::sys_days{date::year{2026} / 3 / 8}},
    {"America/New_York", date::sys_days{date::year{2026} / 11 / 1}},
    {"Australia/Lord_Howe", date::sys_days{date::year{2026} / 4 / 4}},
    {"Australia/Lord_Howe", date::sys_days{date::year{2026} / 10 / 3}},
    {"", date::sys_days{date::year{2028} / 2 / 28}},
};

bool is_due_at(const Cron& cron, date::local_time<std::chrono::minutes> wall) {
    const auto day = date::floor<date::days>(wall);
    const date::year_month_day ymd{day};
    const auto minute = (wall - day).count();
    const auto has = [](std::uint64_t bits, auto n) {
        return (bits >> static_cast<unsigned>(n) & 1) != 0;
    };
    const bool by_day = has(cron.days, static_cast<unsigned>(ymd.day()));
    const bool by_weekday = has(cron.weekdays, date::weekday{day}.c_encoding());
    return has(cron.minutes, minute % 60) && has(cron.hours, minute / 60) &&
           has(cron.months, static_cast<unsigned>(ymd.month())) &&
           (cron.either_day ? by_day || by_weekday : by_day && by_weekday);
}

// As cron(8) says it: a clock that wakes each minute, and compares with the minutes that it has
// seen.
std::vector<TimePoint> ticks_by_waking(
    const Cron& cron, const TimeZone& zone, date::sys_days begin, date::sys_days end
) {
    const auto wall_of = [&](date::sys_time<std::chrono::minutes> time) {
        const auto offset = zone.rules ? zone.rules->get_info(time).offset : 0s;
        return date::floor<std::chrono::minutes>(date::local_seconds{
            time.time_since_epoch() + offset});
    };
    std::vector<TimePoint> ticks;
    auto seen = wall_of(begin - 1min);
    for (date::sys_time<std::chrono::minutes> time = begin; time < end; time += 1min) {
        const auto wall = wall_of(time);
        bool due = false;
        if (cron.follows_wall_clock) {
            due = is_due_at(cron, wall);
        } else {
            for (; seen < wall; due = is_due_at(cron, seen) || due) seen += 1min;
        }
        if (due) ticks.emplace_back(time);
    }
    return ticks;
}

std::string random_field(int low, int high) {
    const auto item = [&]() -> std::string {
        const auto first = *rc::gen::inRange(low, high + 1);
        const auto last = *rc::gen::inRange(first, high + 1);
        const auto step = "/" + std::to_string(*rc::gen::inRange(1, high + 1));
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                return "*";
            case 1:
                return "*" + step;
            case 2:
                return std::to_string(first) + "-" + std::to_string(last) + step;
            default:
                return std::to_string(first);
        }
    };
    auto text = item();
    for (int more = *rc::gen::inRange(0, 3); more > 0; --more) text += "," + item();
    return text;
}

}  // namespace

RC_GTEST_PROP(Cron, ticks_are_those_of_a_clock_that_wakes_each_minute, ()) {
    const auto star_or = [](const std::string& field) {
        return *rc::gen::arbitrary<bool>() ? "*" : field;
    };
    const auto text = random_field(0, 59) + " " + star_or(random_field(0, 3)) + " " +
                      star_or(random_field(1, 31)) + " " + star_or(random_field(1, 12)) + " " +
                      star_or(random_field(0, 7));
    const auto parsed = parse_cron(text);
    RC_PRE(std::holds_alternative<Cron>(parsed));
    const auto& cron = std::get<Cron>(parsed);
    for (const auto& change : changes) {
        RC_LOG() << text << " in " << change.zone << std::endl;
        const auto zone = std::get<TimeZone>(find_time_zone(change.zone));
        const auto end = change.day + date::days{2};
        std::vector<TimePoint> ticks;
        for (TimePoint tick = change.day - 1ms; (tick = next_tick(cron, zone, tick)) < end;)
            ticks.push_back(tick);
        RC_ASSERT(ticks == ticks_by_waking(cron, zone, change.day, end));
    }
}

}  // namespace pawl::core::cron_property_test
