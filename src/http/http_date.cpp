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

constexpr std::array<std::string_view, 7> whole_days_of_week{
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

// Texts of another form stay what they are, or become no valid date.
std::string from_asctime(std::string_view text) {
    std::string day{text.substr(8, 2)};
    if (day[0] == ' ') day[0] = '0';
    std::string date{text.substr(0, 3)};
    date.append(", ").append(day).append(" ").append(text.substr(4, 3)).append(" ");
    return date.append(text.substr(20)).append(" ").append(text.substr(11, 8)).append(" GMT");
}

std::string from_rfc_850(std::string_view text, TimePoint now) {
    const auto comma = text.find(',');
    if (comma == text.npos || text.size() != comma + 24 ||
        std::ranges::find(whole_days_of_week, text.substr(0, comma)) == whole_days_of_week.end())
        return {};
    const auto rest = text.substr(comma);  // ", 06-Nov-94 08:49:37 GMT"
    const std::string year{rest.substr(9, 2)};
    if (year.find_first_not_of("0123456789") != year.npos) return {};
    const auto today = std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(now)};
    const int this_year = int{today.year()};
    int full = this_year - this_year % 100 + std::stoi(year);
    if (full > this_year + 50) full -= 100;
    if (full <= this_year - 50) full += 100;
    std::string date{text.substr(0, 3)};
    date.append(rest.substr(0, 4)).append(" ").append(rest.substr(5, 3)).append(" ");
    return date.append(std::to_string(full)).append(rest.substr(11));
}

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
std::optional<TimePoint> parse_http_date(std::string_view given, TimePoint now) {
    std::string text{given};
    if (text.size() == 24 && text[3] == ' ')
        text = from_asctime(text);
    else if (text.size() > 26 && text[3] != ',')
        text = from_rfc_850(text, now);
    if (text.size() != 29) return std::nullopt;
    const auto* const found =
        std::find(months.begin(), months.end(), std::string_view{text}.substr(8, 3));
    const auto month = std::to_string(101 + (found - months.begin())).substr(1);  // Two digits.
    const auto year = text.substr(12, 4);
    const auto day = text.substr(5, 2);
    const auto time = text.substr(17, 8);
    const auto at = base::time_from_text(year + '-' + month + '-' + day + 'T' + time + ".000Z");
    return at && http_date(*at) == text ? at : std::nullopt;
}

}  // namespace pawl::http
