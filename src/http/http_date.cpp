#include "src/http/http_date.hpp"

#include <array>
#include <string_view>

namespace pawl::http {

std::string http_date(TimePoint at) {
    using namespace std::chrono;
    constexpr std::array<std::string_view, 7> days_of_week{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const auto of_day = duration_cast<seconds>(at - day).count();
    auto two = [](std::int64_t n) { return std::string{static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)}; };
    std::string text{days_of_week[weekday{day}.c_encoding()]};
    text += ", " + two(static_cast<unsigned>(date.day())) + ' ';
    text += months[static_cast<unsigned>(date.month()) - 1];
    text += ' ' + std::to_string(static_cast<int>(date.year())) + ' ';
    text += two(of_day / 3600) + ':' + two(of_day / 60 % 60) + ':' + two(of_day % 60) + " GMT";
    return text;
}

}  // namespace pawl::http
