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

std::optional<TimePoint> time_from_rfc3339(std::string_view text) {
    constexpr std::size_t seconds_end = 19;  // Of 2026-11-21T04:30:00
    if (text.size() < seconds_end + 1) return std::nullopt;
    std::string plain{text.substr(0, seconds_end)};
    if (plain[10] == 't') plain[10] = 'T';
    auto rest = text.substr(seconds_end);
    std::string decimals;
    if (rest.front() == '.') {
        const auto end = rest.find_first_not_of("0123456789", 1);
        if (end == rest.npos || end == 1 || end > 10) return std::nullopt;
        decimals = rest.substr(1, end - 1);
        rest.remove_prefix(end);
    }
    decimals.resize(9, '0');
    if (decimals.find_first_not_of('0', 3) != decimals.npos) return std::nullopt;
    const auto local = time_from_text(plain + "." + decimals.substr(0, 3) + "Z");
    if (!local) return std::nullopt;
    if (rest == "Z" || rest == "z") return local;
    constexpr std::string_view form = "+dd:dd";
    if (rest.size() != form.size() || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':')
        return std::nullopt;
    for (const auto at : {1U, 2U, 4U, 5U})
        if (rest[at] < '0' || rest[at] > '9') return std::nullopt;
    const int hour = get(rest.substr(1, 2));
    const int minute = get(rest.substr(4, 2));
    if (hour > 23 || minute > 59) return std::nullopt;
    const auto offset = hours{hour} + minutes{minute};
    const auto at = rest[0] == '+' ? *local - offset : *local + offset;
    // Another year has no text of four digits, and no database keeps it.
    constexpr TimePoint first{sys_days{year{0} / January / 1}};
    constexpr TimePoint end{sys_days{year{10'000} / January / 1}};
    if (at < first || at >= end) return std::nullopt;
    return at;
}

}  // namespace pawl::base
