#include "src/base/time_text.hpp"

namespace pawl::base {

namespace {

using namespace std::chrono;

void put(char* at, int digits, int value) {
    for (int i = digits - 1; i >= 0; --i, value /= 10) at[i] = static_cast<char>('0' + value % 10);
}

int get(std::string_view digits) {
    int value = 0;
    for (const char digit : digits) value = 10 * value + (digit - '0');
    return value;
}

}  // namespace

std::string time_text(TimePoint at) {
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const auto of_day = static_cast<int>((at - day).count());
    std::string text = "0000-00-00T00:00:00.000Z";
    put(text.data(), 4, static_cast<int>(date.year()));
    put(text.data() + 5, 2, static_cast<int>(static_cast<unsigned>(date.month())));
    put(text.data() + 8, 2, static_cast<int>(static_cast<unsigned>(date.day())));
    put(text.data() + 11, 2, of_day / 3'600'000);
    put(text.data() + 14, 2, of_day / 60'000 % 60);
    put(text.data() + 17, 2, of_day / 1'000 % 60);
    put(text.data() + 20, 3, of_day % 1'000);
    return text;
}

std::optional<TimePoint> time_from_text(std::string_view text) {
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd.dddZ";
    if (text.size() != form.size()) return std::nullopt;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == 'd' ? !digit : text[i] != form[i]) return std::nullopt;
    }
    const year_month_day date{
        year{get(text.substr(0, 4))},
        month{static_cast<unsigned>(get(text.substr(5, 2)))},
        day{static_cast<unsigned>(get(text.substr(8, 2)))}};
    const int hour = get(text.substr(11, 2));
    const int minute = get(text.substr(14, 2));
    const int second = get(text.substr(17, 2));
    if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
    return TimePoint{sys_days{date}} + hours{hour} + minutes{minute} + seconds{second} +
           milliseconds{get(text.substr(20, 3))};
}

}  // namespace pawl::base
