#include "src/store/postgres/row.hpp"

#include <pawl/error.hpp>

#include "src/base/time_text.hpp"
#include "src/store/postgres/type_ids.hpp"
#include "src/store/store.hpp"

#include <postgresql/libpq-fe.h>

#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <new>

namespace pawl::postgres {

namespace {

using namespace type_id;

bool is_whole(unsigned type) {
    return type == int2 || type == int4 || type == int8;
}

bool is_number(unsigned type) {
    return is_whole(type) || type == float4 || type == float8 || type == numeric;
}

// Removes digits from the front of the text.
std::optional<int> take_number(std::string_view& text, std::size_t digits_max) {
    int value = 0;
    const auto digits = text.substr(0, digits_max);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - digits.data()));
    return value;
}

bool take(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

// ".123456" as milliseconds; 0 if missing.
std::chrono::milliseconds take_fraction(std::string_view& text) {
    int ms = 0;
    if (!take(text, '.')) return {};
    for (int place = 100; !text.empty() && text.front() >= '0' && text.front() <= '9';
         place /= 10) {
        ms += (text.front() - '0') * place;
        text.remove_prefix(1);
    }
    return std::chrono::milliseconds{ms};
}

// "+05", "-03:30", "+00:00:15".
std::optional<std::chrono::seconds> take_zone(std::string_view& text) {
    const bool west = !text.empty() && text.front() == '-';
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    std::chrono::seconds offset{0};
    for (const int unit : {3600, 60, 1}) {
        const auto part = take_number(text, 2);
        if (!part) return std::nullopt;
        offset += std::chrono::seconds{*part * unit};
        if (!take(text, ':')) break;
    }
    return west ? -offset : offset;
}

}  // namespace

std::optional<TimePoint> time_of_postgres(std::string_view text) {
    constexpr std::string_view separators = "-- ::";
    std::array<int, 6> parts{};  // From years to seconds.
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto number = take_number(text, i == 0 ? 6 : 2);
        if (!number || (i < separators.size() && !take(text, separators[i]))) return std::nullopt;
        parts[i] = *number;
    }
    const auto [year, month, day, hour, minute, second] = parts;
    const auto fraction = take_fraction(text);
    const auto zone = take_zone(text);
    if (!zone || !text.empty()) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year{year},
        std::chrono::month{static_cast<unsigned>(month)},
        std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok()) return std::nullopt;
    return TimePoint{std::chrono::sys_days{date}} + std::chrono::hours{hour} +
           std::chrono::minutes{minute} + std::chrono::seconds{second} + fraction - *zone;
}

int PostgresRow::columns() const {
    return PQnfields(result_);
}

void PostgresRow::check_column(int column) const {
    if (column < 0 || column >= columns()) wrong(column, "there");
}

bool PostgresRow::is_null(int column) const {
    check_column(column);
    return PQgetisnull(result_, row_, column) != 0;
}

unsigned PostgresRow::type(int column) const {
    return PQftype(result_, column);
}

std::string_view PostgresRow::value(int column) const {
    return {
        PQgetvalue(result_, row_, column),
        static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

std::int64_t PostgresRow::integer(int column) const {
    if (is_null(column)) wrong(column, "a whole number");
    const auto found = value(column);
    if (type(column) == boolean) return found == "t" ? 1 : 0;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), number);
    const bool whole = error == std::errc{} && end == found.data() + found.size();
    if (!whole || (!is_whole(type(column)) && type(column) != numeric))
        wrong(column, "a whole number");
    return number;
}

double PostgresRow::real(int column) const {
    if (is_null(column) || !is_number(type(column))) wrong(column, "a number");
    const auto found = value(column);
    if (found == "Infinity") return std::numeric_limits<double>::infinity();
    if (found == "-Infinity") return -std::numeric_limits<double>::infinity();
    double number = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), number);
    if (error != std::errc{} || end != found.data() + found.size()) wrong(column, "a number");
    return number;
}

std::string_view PostgresRow::text(int column) const {
    if (is_null(column)) wrong(column, "text");
    const auto column_type = type(column);
    if (column_type == timestamp_with_zone) {
        const auto time = time_of_postgres(value(column));
        if (!time) wrong(column, "a time of our era, with DateStyle ISO");
        time_ = base::time_text(*time);
        return time_;
    }
    const bool is_text = !is_number(column_type) || column_type == numeric;
    if (column_type == byte_array || column_type == boolean || !is_text) wrong(column, "text");
    return value(column);
}

std::string_view PostgresRow::bytes(int column) const {
    if (is_null(column) || type(column) != byte_array) wrong(column, "bytes");
    std::size_t size = 0;
    const std::unique_ptr<unsigned char, decltype(&PQfreemem)> found{
        PQunescapeBytea(
            reinterpret_cast<const unsigned char*>(PQgetvalue(result_, row_, column)), &size
        ),
        &PQfreemem};
    if (!found) throw std::bad_alloc{};
    bytes_.assign(reinterpret_cast<const char*>(found.get()), size);
    return bytes_;
}

void PostgresRow::wrong(int column, const char* wanted) const {
    const char* name = PQfname(result_, column);
    throw store::statement_error(
        StoreError::Kind::statement,
        statement_,
        ": column " + (name != nullptr ? std::string{name} : std::to_string(column)) + " is not " +
            wanted
    );
}

}  // namespace pawl::postgres
