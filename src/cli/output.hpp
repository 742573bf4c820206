#pragma once

#include <pawl/detail/reflect.hpp>

#include "src/store/damaged_row.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Rows for people and for programs, from the same aggregates: a field's name is its column's name.
namespace pawl::cli {

// Columns that hold JSON: printed as JSON, not as text.
struct Json {
    std::string text;
};

// The database or another system does not allow the command; the text says what to do. Exit code 1.
struct CommandFailed {
    std::string why;
};

// Arguments that are wrong for any database: exit code 2, as from CLI11.
struct UsageError {
    std::string why;
};

namespace detail_output {

template <class T>
inline constexpr bool optional = false;
template <class T>
inline constexpr bool optional<std::optional<T>> = true;

}  // namespace detail_output

// A value from outside, such as a provider's id, in a list: at most so many bytes of it.
inline constexpr std::size_t listed_max = 1'000;
inline constexpr std::size_t shown_max = std::size_t{1} << 20U;  // Where one row is shown.
// At most so many bytes, and how many there are; UTF-8 in any case.
std::string bounded(std::string text, std::size_t bytes_max);

template <class T>
boost::json::value json_of(const T& value, std::size_t bytes_max = shown_max) {
    if constexpr (detail_output::optional<T>) {
        return value ? json_of(*value, bytes_max)
                     : boost::json::value(nullptr);  // Braces would make an array of it.
    } else if constexpr (std::same_as<T, Json>) {
        boost::system::error_code failed;
        if (value.text.size() > bytes_max) return json_of(value.text, bytes_max);
        auto parsed = boost::json::parse(value.text, failed);
        return failed ? json_of(value.text, bytes_max) : parsed;
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        return boost::json::string{bounded(std::string{std::string_view{value}}, bytes_max)};
    } else {
        return value;
    }
}

template <class T>
std::string text_of(const T& value) {
    if constexpr (detail_output::optional<T>) {
        return value ? text_of(*value) : std::string{"-"};
    } else if constexpr (std::same_as<T, Json>) {
        return value.text;
    } else if constexpr (std::same_as<T, bool>) {
        return value ? "yes" : "no";
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        return std::string{std::string_view{value}};
    } else {
        return std::to_string(value);
    }
}

// Printed in place of a value that does not decode (PAWL0022).
inline constexpr std::string_view damaged = "damaged";

// A row as far as it decodes.
template <class R>
struct Line {
    R row{};
    store::Damage damage{};
};

inline bool is_damaged(const store::Damage& damage, std::string_view column) {
    return std::find(damage.columns.begin(), damage.columns.end(), column) != damage.columns.end();
}

template <class R>
Line<R> line_of_row(const detail::Row& row, std::string_view statement) {
    store::DamagedRow values{row, statement};
    Line<R> line;
    int column = 0;
    detail::for_each_field(line.row, [&](std::string_view name, auto& field) {
        field = values.column<std::remove_cvref_t<decltype(field)>>(column++, name);
    });
    line.damage = values.damage();
    return line;
}

template <class R>
boost::json::object object_of(const R& row, std::size_t bytes_max = shown_max) {
    boost::json::object object;
    detail::for_each_field(row, [&](std::string_view name, const auto& field) {
        object[name] = json_of(field, bytes_max);
    });
    return object;
}

// A damaged value is null; the member "damaged" has the problem.
template <class R>
boost::json::object object_of(const Line<R>& line, std::size_t bytes_max = shown_max) {
    auto object = object_of(line.row, bytes_max);
    for (const auto& column : line.damage.columns) object[column] = nullptr;
    if (!line.damage.problem.empty()) object[damaged] = line.damage.problem;
    return object;
}

// Whether a person reads it: a pipe or a file is for programs, which need full lines.
bool is_terminal(const std::ostream& stream);
// Behind the base::VisibleOutput of a command, for what the terminal is to obey.
std::streambuf* raw_buffer(const std::ostream& stream);

std::optional<std::string> text_of_time(const std::optional<TimePoint>& at);

// Prints aligned columns under a header, padded for values of up to 100 bytes. On a terminal a line
// is cut to 160 characters.
void print_table(
    std::ostream& out,
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows
);
void print_json(std::ostream& out, const boost::json::value& value);
// Below the rows of a dry run for people: how many jobs or keys the command would work on.
void print_choice(
    std::ostream& out, std::int64_t chosen, std::int64_t shown, std::string_view what
);

template <class R>
std::vector<std::string> cells_of(const R& row, const store::Damage& damage) {
    std::vector<std::string> cells;
    detail::for_each_field(row, [&](std::string_view name, const auto& field) {
        cells.push_back(
            is_damaged(damage, name) ? std::string{damaged} : bounded(text_of(field), listed_max)
        );
    });
    return cells;
}

// Damaged rows keep their place; the problem of each is printed below the table.
template <class R>
void print_rows(
    std::ostream& out, const std::vector<Line<R>>& lines, bool json, std::string_view none
) {
    if (json) {
        boost::json::array array;
        for (const auto& line : lines) array.push_back(object_of(line, listed_max));
        return print_json(out, array);
    }
    if (lines.empty()) {
        out << none << '\n';
        return;
    }
    std::vector<std::string> header;
    detail::for_each_field(lines.front().row, [&](std::string_view name, const auto&) {
        header.emplace_back(name);
    });
    std::vector<std::vector<std::string>> cells;
    cells.reserve(lines.size());
    for (const auto& line : lines) cells.push_back(cells_of(line.row, line.damage));
    print_table(out, header, cells);
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!lines[i].damage.problem.empty())
            out << "PAWL0022: " << header.front() << ' ' << cells[i].front()
                << " is damaged: " << lines[i].damage.problem << '\n';
}

template <class R>
void print_rows(std::ostream& out, const std::vector<R>& rows, bool json, std::string_view none) {
    std::vector<Line<R>> lines;
    lines.reserve(rows.size());
    for (const auto& row : rows) lines.push_back({row, {}});
    print_rows(out, lines, json, none);
}

// One row, a line for each field.
template <class R>
void print_row(std::ostream& out, const Line<R>& line, bool json) {
    if (json) return print_json(out, object_of(line));
    const auto print = [&](std::string_view name, const std::string& text) {
        out << name << std::string(name.size() < 20 ? 20 - name.size() : 1, ' ') << text << '\n';
    };
    detail::for_each_field(line.row, [&](std::string_view name, const auto& field) {
        print(
            name,
            is_damaged(line.damage, name) ? std::string{damaged}
                                          : bounded(text_of(field), shown_max)
        );
    });
    if (!line.damage.problem.empty()) print("PAWL0022", line.damage.problem);
}

template <class R>
void print_row(std::ostream& out, const R& row, bool json) {
    print_row(out, Line<R>{row, {}}, json);
}

}  // namespace pawl::cli
