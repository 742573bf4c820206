#include "src/http/http_date.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace pawl::http {

namespace {

constexpr std::array<std::string_view, 7> days_of_week{
    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months{
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// -1: not a number.
int number_at(std::string_view text, std::size_t from, std::size_t count) {
    int number = 0;
    const char* first = text.data() + from;
    const auto [end, bad] = std::from_chars(first, first + count, number);
    return bad == std::errc{} && end == first + count ? number : -1;
}

}  // namespace

std::string http_date(TimePoint at) {
    using namespace std::chrono;
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const auto of_day = duration_cast<seconds>(at - day).count();
    auto two = [](std::int64_t n) {
        return std::string{static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)};
    };
    std::string text{days_of_week[weekday{day}.c_encoding()]};
    text += ", " + two(static_cast<unsigned>(date.day())) + ' ';
    text += months[static_cast<unsigned>(date.month()) - 1];
    text += ' ' + std::to_string(static_cast<int>(date.year())) + ' ';
    text += two(of_day / 3600) + ':' + two(of_day / 60 % 60) + ':' + two(of_day % 60) + " GMT";
    return text;
}

// Formats the parsed date again: only a text that comes out the same was a valid date.
std::optional<TimePoint> parse_http_date(std::string_view text) {
    using namespace std::chrono;
    if (text.size() != 29) return std::nullopt;
    const auto* const found = std::find(months.begin(), months.end(), text.substr(8, 3));
    const int day = number_at(text, 5, 2);
    const int year_number = number_at(text, 12, 4);
    const int hour = number_at(text, 17, 2);
    const int minute = number_at(text, 20, 2);
    const int second = number_at(text, 23, 2);
    if (found == months.end() || day < 0 || year_number < 0 || hour < 0 || minute < 0 || second < 0)
        return std::nullopt;
    const year_month_day date{
        year{year_number},
        month{static_cast<unsigned>(found - months.begin()) + 1},
        std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok()) return std::nullopt;
    const TimePoint at = sys_days{date} + hours{hour} + minutes{minute} + seconds{second};
    if (http_date(at) != text) return std::nullopt;
    return at;
}

}  // namespace pawl::http
