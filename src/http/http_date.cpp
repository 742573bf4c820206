#include "src/http/http_date.hpp"

#include "src/base/time_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace pawl::http {

namespace {

constexpr std::array<std::string_view, 7> days_of_week{
    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months{
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string http_date(TimePoint at) {
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const auto month = static_cast<unsigned>(std::chrono::year_month_day{day}.month());
    const auto text = base::time_text(at);  // 1994-11-06T08:49:37.000Z
    std::string date{days_of_week[std::chrono::weekday{day}.c_encoding()]};
    date.append(", ").append(text, 8, 2).append(" ").append(months[month - 1]);
    return date.append(" ").append(text, 0, 4).append(" ").append(text, 11, 8).append(" GMT");
}

// Formats the parsed date again: only a text that comes out the same was a valid date.
std::optional<TimePoint> parse_http_date(std::string_view text) {
    if (text.size() != 29) return std::nullopt;
    const auto* const found = std::find(months.begin(), months.end(), text.substr(8, 3));
    const auto month = std::to_string(101 + (found - months.begin())).substr(1);  // Two digits.
    const std::string year{text.substr(12, 4)};
    const std::string day{text.substr(5, 2)};
    const std::string time{text.substr(17, 8)};
    const auto at = base::time_from_text(year + '-' + month + '-' + day + 'T' + time + ".000Z");
    return at && http_date(*at) == text ? at : std::nullopt;
}

}  // namespace pawl::http
