#include "src/core/cron.hpp"

#include <date/date.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

// tests/integration/cron_cases.py compares the same reader with Debian's cron.
namespace pawl::core::cron_test {
namespace {

using namespace std::chrono_literals;

TimePoint at(const std::string& text) {
    std::istringstream in{text};
    date::sys_seconds time;
    in >> date::parse("%F %R", time);
    EXPECT_TRUE(in) << text;
    return time;
}

std::string text_of(TimePoint time) {
    return time == TimePoint::max() ? "never" : date::format("%F %R", time);
}

Cron cron_of(std::string_view text) {
    auto parsed = parse_cron(text);
    if (const auto* problem = std::get_if<CronProblem>(&parsed)) {
        ADD_FAILURE() << text << ": " << problem->message;
        return {};
    }
    return std::get<Cron>(parsed);
}

std::string problem_of(std::string_view text) {
    const auto parsed = parse_cron(text);
    const auto* problem = std::get_if<CronProblem>(&parsed);
    return problem ? problem->message : "accepted";
}

TimeZone zone_of(std::string_view name) {
    auto found = find_time_zone(name);
    EXPECT_TRUE(std::holds_alternative<TimeZone>(found)) << name;
    return std::get<TimeZone>(found);
}

// In UTC, of the time zone's clock.
std::vector<std::string> ticks(
    std::string_view text, const std::string& after, std::size_t number, std::string_view zone = {}
) {
    const auto cron = cron_of(text);
    const auto rules = zone_of(zone);
    std::vector<std::string> found;
    for (auto time = at(after); found.size() < number; found.push_back(text_of(time)))
        time = next_tick(cron, rules, time);
    return found;
}

using Ticks = std::vector<std::string>;

}  // namespace

TEST(CronTest, a_tick_is_after_the_time_given) {
    const auto cron = cron_of("30 3 * * *");

    EXPECT_EQ(text_of(next_tick(cron, {}, at("2026-11-25 03:29"))), "2026-11-25 03:30");
    EXPECT_EQ(text_of(next_tick(cron, {}, at("2026-11-25 03:30") - 1ms)), "2026-11-25 03:30");
    EXPECT_EQ(text_of(next_tick(cron, {}, at("2026-11-25 03:30"))), "2026-11-26 03:30");
    EXPECT_EQ(text_of(next_tick(cron, {}, at("2026-11-25 03:30") + 59s)), "2026-11-26 03:30");
}

TEST(CronTest, a_field_is_a_list_of_values_ranges_and_steps) {
    EXPECT_EQ(
        ticks("5,10-12,40-59/10 9 * * *", "2026-11-25 00:00", 7),
        (Ticks{
            "2026-11-25 09:05",
            "2026-11-25 09:10",
            "2026-11-25 09:11",
            "2026-11-25 09:12",
            "2026-11-25 09:40",
            "2026-11-25 09:50",
            "2026-11-26 09:05"})
    );
    EXPECT_EQ(
        ticks(" */25\t23 *  * * ", "2026-11-25 23:10", 4),
        (Ticks{"2026-11-25 23:25", "2026-11-25 23:50", "2026-11-26 23:00", "2026-11-26 23:25"})
    );
}

TEST(CronTest, months_and_weekdays_have_names) {
    EXPECT_EQ(
        ticks("0 0 * Jan,DEC fri-Sat,SUN", "2026-11-25 00:00", 3),
        (Ticks{"2026-12-04 00:00", "2026-12-05 00:00", "2026-12-06 00:00"})
    );
    EXPECT_EQ(cron_of("0 0 * * sun").weekdays & 0x7f, 1U);
    EXPECT_EQ(cron_of("0 0 * * 7").weekdays & 0x7f, cron_of("0 0 * * 0").weekdays);
    EXPECT_EQ(cron_of("0 0 * * 5-7").weekdays & 0x7f, 1U << 5 | 1U << 6 | 1U);
}

TEST(CronTest, one_of_two_day_fields_is_enough_unless_one_begins_with_a_star) {
    EXPECT_EQ(
        ticks("0 0 13 * fri", "2026-11-25 00:00", 4),
        (Ticks{"2026-11-27 00:00", "2026-12-04 00:00", "2026-12-11 00:00", "2026-12-13 00:00"})
    );
    EXPECT_EQ(
        ticks("0 0 */2 * fri", "2026-11-25 00:00", 3),
        (Ticks{"2026-11-27 00:00", "2026-12-11 00:00", "2026-12-25 00:00"})
    );
}

TEST(CronTest, a_leap_day_is_due_in_leap_years) {
    EXPECT_EQ(
        ticks("0 12 29 2 *", "2026-11-25 00:00", 2), (Ticks{"2028-02-29 12:00", "2032-02-29 12:00"})
    );
    // 2100 is no leap year.
    EXPECT_EQ(ticks("0 12 29 feb *", "2096-03-01 00:00", 1), (Ticks{"2104-02-29 12:00"}));
    EXPECT_EQ(ticks("0 12 29 2 */7", "2026-11-25 00:00", 1), (Ticks{"2032-02-29 12:00"}));
}

TEST(CronTest, words_stand_for_common_entries) {
    EXPECT_EQ(ticks("@hourly", "2026-11-25 00:10", 1), (Ticks{"2026-11-25 01:00"}));
    EXPECT_EQ(ticks("@daily", "2026-11-25 00:10", 1), (Ticks{"2026-11-26 00:00"}));
    EXPECT_EQ(ticks("@Midnight", "2026-11-25 00:10", 1), (Ticks{"2026-11-26 00:00"}));
    EXPECT_EQ(ticks("@weekly", "2026-11-25 00:10", 1), (Ticks{"2026-11-29 00:00"}));
    EXPECT_EQ(ticks("@monthly", "2026-11-25 00:10", 1), (Ticks{"2026-12-01 00:00"}));
    EXPECT_EQ(ticks("@yearly", "2026-11-25 00:10", 1), (Ticks{"2027-01-01 00:00"}));
    EXPECT_EQ(ticks("@annually", "2026-11-25 00:10", 1), (Ticks{"2027-01-01 00:00"}));
}

// Berlin's clock goes from 02:00 to 03:00 on 29 March 2026, at 01:00 UTC.
TEST(CronTest, a_skipped_time_is_due_once_right_after_the_change) {
    EXPECT_EQ(
        ticks("30 2 * * *", "2026-03-28 00:00", 3, "Europe/Berlin"),
        (Ticks{"2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"})
    );
    EXPECT_EQ(
        ticks("0,15,30 2,3 * * *", "2026-03-29 00:00", 4, "Europe/Berlin"),
        (Ticks{"2026-03-29 01:00", "2026-03-29 01:15", "2026-03-29 01:30", "2026-03-30 00:00"})
    );
}

// Berlin's clock goes from 03:00 to 02:00 on 25 October 2026, at 01:00 UTC.
TEST(CronTest, a_repeated_time_is_due_at_first) {
    EXPECT_EQ(
        ticks("30 2 * * *", "2026-10-24 00:00", 3, "Europe/Berlin"),
        (Ticks{"2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"})
    );
    EXPECT_EQ(
        ticks("0 2,3 * * *", "2026-10-24 12:00", 3, "Europe/Berlin"),
        (Ticks{"2026-10-25 00:00", "2026-10-25 02:00", "2026-10-26 01:00"})
    );
}

TEST(CronTest, an_entry_with_a_star_for_minute_or_hour_follows_the_clock_on_the_wall) {
    EXPECT_EQ(
        ticks("30 * * * *", "2026-03-28 23:40", 3, "Europe/Berlin"),
        (Ticks{"2026-03-29 00:30", "2026-03-29 01:30", "2026-03-29 02:30"})
    );
    EXPECT_EQ(
        ticks("*/30 2 * * *", "2026-10-24 12:00", 5, "Europe/Berlin"),
        (Ticks{
            "2026-10-25 00:00",
            "2026-10-25 00:30",
            "2026-10-25 01:00",
            "2026-10-25 01:30",
            "2026-10-26 01:00"})
    );
    EXPECT_EQ(
        ticks("*/30 2 * * *", "2026-03-28 12:00", 1, "Europe/Berlin"), (Ticks{"2026-03-30 00:00"})
    );
}

// Samoa had no 30 December 2011: cron(8) takes a change of 3 hours or more for a clock that was
// set.
TEST(CronTest, a_long_change_of_the_clock_makes_nothing_due) {
    EXPECT_EQ(
        ticks("0 12 * * *", "2011-12-29 00:00", 2, "Pacific/Apia"),
        (Ticks{"2011-12-29 22:00", "2011-12-30 22:00"})
    );
    EXPECT_EQ(
        ticks("0 12 30 12 *", "2011-12-29 00:00", 1, "Pacific/Apia"), (Ticks{"2012-12-29 22:00"})
    );
}

TEST(CronTest, wrong_text_is_refused_with_the_field_and_its_limits) {
    EXPECT_EQ(
        problem_of("60 * * * *"),
        "the minute '60' is wrong: give numbers from 0 to 59, as in '*', '0', '0-3', '*/2' or a "
        "list of these with commas"
    );
    EXPECT_EQ(
        problem_of("0 0 * foo *"),
        "the month 'foo' is wrong: give numbers from 1 to 12 or names of three letters, as in '*', "
        "'1', '1-4', '*/2' or a "
        "list of these with commas"
    );
    for (const auto* text :
         {"5-1 * * * *", "*/0 * * * *", "5/15 * * * *", "5.5 * * * *", "1,,2 * * * *",
          ", * * * *",   "1, * * * *",  "-1 * * * *",   "1- * * * *",  "* 24 * * *",
          "* * 0 * *",   "* * 32 * *",  "* * * 13 *",   "* * * 0 *",   "* * * * 8",
          "jan * * * *", "** * * * *",  "*-3 * * * *",  "+1 * * * *",  "1-2-3 * * * *",
          "001 * * * *"})
        EXPECT_NE(problem_of(text).find("is wrong: give numbers from"), std::string::npos) << text;
    for (const auto* text : {"", " ", "* * * *", "* * * * * *", "5 * * * * command"})
        EXPECT_NE(problem_of(text).find("give five"), std::string::npos) << text;
    EXPECT_EQ(
        problem_of("@reboot"),
        "'@reboot' is unknown: give @yearly, @monthly, @weekly, @daily, @hourly or five fields"
    );
    EXPECT_EQ(problem_of(std::string(201, '*')), "it has 201 bytes: give at most 200");
}

TEST(CronTest, an_entry_that_is_never_due_is_refused) {
    EXPECT_EQ(problem_of("0 0 30 2 *"), "it is never due: no month '2' has a day '30'");
    EXPECT_EQ(
        problem_of("0 0 31 2,4,6,9,11 *"), "it is never due: no month '2,4,6,9,11' has a day '31'"
    );
    EXPECT_EQ(problem_of("0 0 30 2 mon"), "accepted");  // Each Monday of February.
}

TEST(CronTest, an_unknown_time_zone_is_refused) {
    const auto found = find_time_zone("Europe/Berlín");
    ASSERT_TRUE(std::holds_alternative<CronProblem>(found));
    EXPECT_EQ(
        std::get<CronProblem>(found).message,
        "the time zone 'Europe/Berlín' is unknown: give a name such as Europe/Berlin, and install "
        "the package tzdata"
    );
    EXPECT_TRUE(std::holds_alternative<TimeZone>(find_time_zone("UTC")));
}

// The system's data end with 2037, and the clock then stood still (issue 39, part 4).
TEST(CronTest, the_clock_changes_after_2037_by_the_same_rules) {
    struct Case {
        const char* zone;
        const char* after;
        std::vector<std::string> noons;
    };
    for (const auto& c : std::vector<Case>{
             {"Europe/Berlin", "2037-10-24 12:00", {"2037-10-25 11:00", "2037-10-26 11:00"}},
             {"Europe/Berlin", "2038-03-27 12:00", {"2038-03-28 10:00", "2038-03-29 10:00"}},
             {"Europe/Berlin", "2038-10-30 12:00", {"2038-10-31 11:00", "2038-11-01 11:00"}},
             {"Europe/Berlin", "2040-02-28 12:00", {"2040-02-29 11:00", "2040-03-01 11:00"}},
             {"Europe/Berlin", "2100-03-27 12:00", {"2100-03-28 10:00", "2100-03-29 10:00"}},
             {"America/New_York", "2038-03-13 18:00", {"2038-03-14 16:00", "2038-03-15 16:00"}},
             {"America/New_York", "2100-11-06 18:00", {"2100-11-07 17:00", "2100-11-08 17:00"}},
             {"America/Santiago", "2040-09-01 18:00", {"2040-09-02 15:00", "2040-09-03 15:00"}},
             {"Australia/Lord_Howe", "2038-10-02 12:00", {"2038-10-03 01:00", "2038-10-04 01:00"}},
             {"America/Nuuk", "2400-03-25 16:00", {"2400-03-26 13:00", "2400-03-27 13:00"}},
             // Its changes follow the moon and are in the data until 2087.
             {"Africa/Casablanca", "2038-09-24 18:00", {"2038-09-25 11:00", "2038-09-26 12:00"}},
             {"Africa/Casablanca", "2100-07-01 18:00", {"2100-07-02 11:00", "2100-07-03 11:00"}}})
        EXPECT_EQ(ticks("0 12 * * *", c.after, 2, c.zone), c.noons) << c.zone << " " << c.after;
    EXPECT_EQ(
        ticks("30 2 * * *", "2100-03-27 12:00", 2, "Europe/Berlin"),
        (Ticks{"2100-03-28 01:00", "2100-03-29 00:30"})
    );
    EXPECT_EQ(
        ticks("30 2 * * *", "2100-10-30 12:00", 2, "Europe/Berlin"),
        (Ticks{"2100-10-31 00:30", "2100-11-01 01:30"})
    );
}

// The C library follows the rules at the end of the data for ever.
TEST(CronTest, every_noon_until_2110_is_that_of_the_c_library) {
    const auto noon = cron_of("0 12 * * *");
    for (const auto* zone :
         {"Europe/Berlin",
          "Europe/Dublin",
          "Europe/London",
          "America/New_York",
          "America/Santiago",
          "America/Nuuk",
          "Australia/Lord_Howe",
          "Pacific/Auckland",
          "Pacific/Chatham",
          "Asia/Jerusalem",
          "Africa/Cairo",
          "Africa/Casablanca",
          "Asia/Tokyo"}) {
        ASSERT_EQ(::setenv("TZ", zone, 1), 0);
        ::tzset();
        const auto rules = zone_of(zone);
        int wrong = 0;
        std::string first;
        for (auto time = at("2036-01-01 00:00"); time < at("2110-01-01 00:00");) {
            const auto next = next_tick(noon, rules, time);
            const auto seconds = std::chrono::floor<std::chrono::seconds>(next).time_since_epoch();
            const std::time_t shown = seconds.count();
            std::tm wall{};
            ::localtime_r(&shown, &wall);
            if ((wall.tm_hour != 12 || wall.tm_min != 0 || next - time > 26h) && wrong++ == 0)
                first = text_of(next);
            time = next;
        }
        EXPECT_EQ(wrong, 0) << zone << ", first at " << first;
    }
    ::unsetenv("TZ");
    ::tzset();
}

TEST(CronTest, nothing_is_due_after_the_last_year) {
    EXPECT_EQ(text_of(next_tick(cron_of("* * * * *"), {}, at("9999-12-31 23:59"))), "never");
    EXPECT_EQ(next_tick(cron_of("* * * * *"), {}, TimePoint::max()), TimePoint::max());
    EXPECT_EQ(next_tick(Cron{}, {}, at("2026-11-25 00:00")), TimePoint::max());
}

}  // namespace pawl::core::cron_test
