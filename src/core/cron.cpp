#include "src/core/cron.hpp"

#include "src/core/ascii.hpp"

#include <date/tz.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pawl::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t most_bytes = 200;
constexpr std::chrono::hours least_long_change{3};
constexpr date::year last_year{9999};

struct Field {
    std::string_view name;
    unsigned low;
    unsigned high;
    std::string_view names{};  // The first one stands for `low`.
};

constexpr std::array<Field, 5> fields{{
    {"minute", 0, 59, {}},
    {"hour", 0, 23, {}},
    {"day of the month", 1, 31, {}},
    {"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
    {"day of the week", 0, 7, "sun mon tue wed thu fri sat sun"},
}};

struct Macro {
    std::string_view name;
    std::string_view expression;
};

constexpr std::array<Macro, 7> macros{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

bool is_set(std::uint64_t bits, unsigned n) {
    return (bits >> n & 1) != 0;
}

std::optional<unsigned> number_of(std::string_view text) {
    if (text.empty() || text.size() > 2 || !are_digits(text)) return std::nullopt;
    unsigned number = 0;
    for (const char c : text) number = number * 10 + static_cast<unsigned>(c - '0');
    return number;
}

std::optional<unsigned> value_of(const Field& field, std::string_view text) {
    const auto names = words_of(field.names);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (same_without_case(names[i], text)) return field.low + static_cast<unsigned>(i);
    const auto number = number_of(text);
    return number && *number >= field.low && *number <= field.high ? number : std::nullopt;
}

// One item of a field's list: "*", "3", "1-5", each but a single value also with a step, "*/2".
std::optional<std::uint64_t> bits_of_item(const Field& field, std::string_view item) {
    const auto slash = item.find('/');
    const auto range = item.substr(0, slash);
    const auto dash = range.find('-');
    const bool is_range = range == "*" || dash != std::string_view::npos;
    unsigned step = 1;
    if (slash != std::string_view::npos) {
        const auto given = number_of(item.substr(slash + 1));
        if (!is_range || !given || *given == 0) return std::nullopt;
        step = *given;
    }
    std::optional<unsigned> first = field.low;
    std::optional<unsigned> last = field.high;
    if (range != "*") {
        first = value_of(field, range.substr(0, dash));
        last = is_range ? value_of(field, range.substr(dash + 1)) : first;
    }
    if (!first || !last || *first > *last) return std::nullopt;
    std::uint64_t bits = 0;
    for (unsigned n = *first; n <= *last; n += step) bits |= std::uint64_t{1} << n;
    return bits;
}

std::string quoted(std::string_view text) {
    return "'" + std::string{text} + "'";
}

CronProblem problem_of(const Field& field, std::string_view text) {
    const auto low = std::to_string(field.low);
    const auto names = field.names.empty() ? "" : " or names of three letters";
    return {
        "the " + std::string{field.name} + " " + quoted(text) + " is wrong: give numbers from " +
        low + " to " + std::to_string(field.high) + names + ", as in '*', '" + low + "', '" + low +
        "-" + std::to_string(field.low + 3) + "', '*/2' or a list of these with commas"};
}

std::variant<std::uint64_t, CronProblem> bits_of_field(const Field& field, std::string_view text) {
    std::uint64_t bits = 0;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(',', at), text.size());
        const auto item = bits_of_item(field, text.substr(at, end - at));
        if (!item) return problem_of(field, text);
        bits |= *item;
        at = end + 1;
    }
    return bits;
}

unsigned longest_month(std::uint64_t months) {
    constexpr std::uint64_t of_30_days = 1U << 4 | 1U << 6 | 1U << 9 | 1U << 11;
    constexpr std::uint64_t february = 1U << 2;
    if ((months & ~(of_30_days | february)) != 0) return 31;
    return (months & of_30_days) != 0 ? 30 : 29;
}

bool is_due_on(const Cron& cron, date::local_days day) {
    const date::year_month_day ymd{day};
    if (!is_set(cron.months, static_cast<unsigned>(ymd.month()))) return false;
    const bool by_day = is_set(cron.days, static_cast<unsigned>(ymd.day()));
    const bool by_weekday = is_set(cron.weekdays, date::weekday{day}.c_encoding());
    return cron.either_day ? by_day || by_weekday : by_day && by_weekday;
}

// The first minute of a day, counted from midnight, that is at least `from`.
std::optional<minutes> first_minute(const Cron& cron, minutes from) {
    const auto hour_of_from = static_cast<unsigned>(from / std::chrono::hours{1});
    for (unsigned hour = hour_of_from; hour < 24; ++hour) {
        if (!is_set(cron.hours, hour)) continue;
        const unsigned least = hour == hour_of_from ? static_cast<unsigned>(from.count() % 60) : 0;
        if (const auto left = cron.minutes >> least; left != 0)
            return minutes{hour * 60 + least + static_cast<unsigned>(std::countr_zero(left))};
    }
    return std::nullopt;
}

// The first time of the clock on the wall that is due, at least `from` and before `end`.
std::optional<date::local_seconds> first_due(
    const Cron& cron, date::local_seconds from, date::local_seconds end
) {
    const auto start = date::ceil<minutes>(from);
    auto day = date::floor<date::days>(start);
    auto least = std::chrono::duration_cast<minutes>(start - day);
    while (day < end) {
        if (is_due_on(cron, day)) {
            if (const auto minute = first_minute(cron, least)) {
                const date::local_seconds due = day + *minute;
                return due < end ? std::optional{due} : std::nullopt;
            }
        }
        const date::year_month_day ymd{day};
        day = is_set(cron.months, static_cast<unsigned>(ymd.month()))
                  ? day + date::days{1}
                  : date::local_days{(ymd.year() / ymd.month() + date::months{1}) / 1};
        least = minutes{0};
    }
    return std::nullopt;
}

// The time from one change of the clock to the next.
struct Period {
    date::sys_seconds begin;
    date::sys_seconds end;
    seconds offset;  // Of the clock on the wall from UTC.
    seconds change;  // Of the offset, at `begin`.
};

date::local_seconds on_the_wall(date::sys_seconds time, seconds offset) {
    return date::local_seconds{time.time_since_epoch() + offset};
}

date::sys_days first_of_march(date::year year) {
    return year / date::March / 1;
}

// The system's time zone data end with 2037, as if the clock never changed again. Later years have
// the rules of that end: a change is at the n-th or last weekday of a month from March on, so it is
// as in a year whose 1 March is the same weekday. Each is among the last eight years of the data.
Period period_after_2037(const TimeZone& zone, date::sys_seconds time) {
    auto year = date::year_month_day{date::floor<date::days>(time)}.year();
    if (time < first_of_march(year)) --year;
    auto like = date::year{2037};
    while (date::weekday{first_of_march(like)} != date::weekday{first_of_march(year)}) --like;
    const auto shift = first_of_march(year) - first_of_march(like);
    const auto next_march = first_of_march(year + date::years{1});
    // A 29 February that the other year has not is as its 28 February.
    const auto other = std::min(time - shift, first_of_march(like + date::years{1}) - seconds{1});
    const auto info = zone.rules->get_info(other);
    const date::sys_seconds begin = std::max(info.begin, date::sys_seconds{first_of_march(like)});
    Period period{begin + shift, next_march, info.offset, seconds{0}};
    if (info.end < first_of_march(like + date::years{1})) period.end = info.end + shift;
    if (begin == info.begin)
        period.change = info.offset - zone.rules->get_info(begin - seconds{1}).offset;
    return period;
}

Period period_of(const TimeZone& zone, date::sys_seconds time) {
    constexpr date::sys_seconds first{date::sys_days{date::year{1969} / 1 / 1}};
    constexpr date::sys_seconds last{date::sys_days{last_year / 12 / 31} + date::days{1}};
    constexpr date::sys_seconds march_of_2038{date::sys_days{date::year{2038} / date::March / 1}};
    if (zone.rules == nullptr) return {first, last, seconds{0}, seconds{0}};
    auto info = zone.rules->get_info(time);
    const auto begin_year = date::year_month_day{date::floor<date::days>(info.begin)}.year();
    if (begin_year == date::year{2037} && info.end > last) {
        if (time >= march_of_2038) return period_after_2037(zone, time);
        info.end = march_of_2038;
    }
    Period period{std::max(info.begin, first), std::min(info.end, last), info.offset, seconds{0}};
    if (info.begin > first)
        period.change = info.offset - zone.rules->get_info(info.begin - seconds{1}).offset;
    return period;
}

// The first time in the period that is due and at least `from`.
std::optional<date::sys_seconds> first_due_in(
    const Cron& cron, const Period& period, date::sys_seconds from
) {
    const auto wall_at_begin = on_the_wall(period.begin, period.offset);
    auto wall_from = on_the_wall(from, period.offset);
    if (!cron.follows_wall_clock && abs(period.change) < least_long_change) {
        const auto wall_before_begin = wall_at_begin - period.change;
        if (from == period.begin && first_due(cron, wall_before_begin, wall_at_begin))
            return from;                                     // For what the change has skipped.
        wall_from = std::max(wall_from, wall_before_begin);  // Not again what the change repeats.
    }
    const auto due = first_due(cron, wall_from, on_the_wall(period.end, period.offset));
    return due ? std::optional{date::sys_seconds{due->time_since_epoch() - period.offset}}
               : std::nullopt;
}

}  // namespace

std::variant<Cron, CronProblem> parse_cron(std::string_view text) {
    if (text.size() > most_bytes)
        return CronProblem{
            "it has " + std::to_string(text.size()) + " bytes: give at most " +
            std::to_string(most_bytes)};
    auto words = words_of(text);
    if (words.size() == 1 && words[0].starts_with('@')) {
        const auto* const macro = std::ranges::find_if(macros, [&](const Macro& m) {
            return same_without_case(m.name, words[0]);
        });
        if (macro == macros.end())
            return CronProblem{
                quoted(words[0]) +
                " is unknown: give @yearly, @monthly, @weekly, @daily, @hourly or five fields"};
        words = words_of(macro->expression);
    }
    if (words.size() != fields.size())
        return CronProblem{
            "it has " + std::to_string(words.size()) +
            " fields: give five, minute, hour, day of the month, month and day of the week, as in "
            "'0 3 * * *'"};
    std::array<std::uint64_t, fields.size()> bits{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        auto parsed = bits_of_field(fields[i], words[i]);
        if (auto* const problem = std::get_if<CronProblem>(&parsed)) return std::move(*problem);
        bits[i] = std::get<std::uint64_t>(parsed);
    }
    Cron cron{
        .minutes = bits[0],
        .hours = bits[1],
        .days = bits[2],
        .months = bits[3],
        .weekdays = bits[4]};
    if (is_set(cron.weekdays, 7)) cron.weekdays |= 1;
    cron.follows_wall_clock = words[0].starts_with('*') || words[1].starts_with('*');
    cron.either_day = !words[2].starts_with('*') && !words[4].starts_with('*');
    if (!cron.either_day &&
        static_cast<unsigned>(std::countr_zero(cron.days)) > longest_month(cron.months))
        return CronProblem{
            "it is never due: no month " + quoted(words[3]) + " has a day " + quoted(words[2])};
    return cron;
}

std::variant<TimeZone, CronProblem> find_time_zone(std::string_view name) {
    if (name.empty() || name == "UTC") return TimeZone{};
    try {
        return TimeZone{date::locate_zone(name)};
    } catch (const std::runtime_error&) {
        return CronProblem{
            "the time zone " + quoted(name) +
            " is unknown: give a name such as Europe/Berlin, and install the package tzdata"};
    }
}

TimePoint next_tick(const Cron& cron, const TimeZone& zone, TimePoint after) {
    constexpr TimePoint end{date::sys_days{last_year / 12 / 31} + date::days{1}};
    if (after >= end) return TimePoint::max();
    for (auto from = date::floor<seconds>(after) + seconds{1}; from < end;) {
        const auto period = period_of(zone, from);
        if (const auto due = first_due_in(cron, period, from)) return *due;
        from = period.end;
    }
    return TimePoint::max();
}

}  // namespace pawl::core
