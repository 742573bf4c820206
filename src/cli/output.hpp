#pragma once

#include <pawl/detail/reflect.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Rows for people and for programs, from the same aggregates: what a field is called is what its
// column is called.
namespace pawl::cli {

// Columns that hold JSON: shown as it is, not as a text.
struct Json {
    std::string text;
};

// A mistake of the caller, with what to do about it: exit code 1.
struct CannotDo {
    std::string why;
};

namespace detail_output {

template <class T>
inline constexpr bool optional = false;
template <class T>
inline constexpr bool optional<std::optional<T>> = true;

}  // namespace detail_output

template <class T>
boost::json::value json_of(const T& value) {
    if constexpr (detail_output::optional<T>) {
        return value ? json_of(*value)
                     : boost::json::value(nullptr);  // Braces would make an array of it.
    } else if constexpr (std::same_as<T, Json>) {
        boost::system::error_code failed;
        auto parsed = boost::json::parse(value.text, failed);
        return failed ? boost::json::value(boost::json::string(value.text)) : parsed;
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        return boost::json::string{std::string_view{value}};
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

template <class R>
boost::json::object object_of(const R& row) {
    boost::json::object object;
    detail::for_each_field(row, [&](std::string_view name, const auto& field) {
        object[name] = json_of(field);
    });
    return object;
}

// Cells in aligned columns under a header; the last column is cut to what fits a line of 160.
void print_table(
    std::ostream& out,
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows
);
void print_json(std::ostream& out, const boost::json::value& value);

template <class R>
void print_rows(std::ostream& out, const std::vector<R>& rows, bool json, std::string_view none) {
    if (json) {
        boost::json::array array;
        for (const auto& row : rows) array.push_back(object_of(row));
        return print_json(out, array);
    }
    if (rows.empty()) {
        out << none << '\n';
        return;
    }
    std::vector<std::string> header;
    detail::for_each_field(rows.front(), [&](std::string_view name, const auto&) {
        header.emplace_back(name);
    });
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : rows) {
        auto& line = cells.emplace_back();
        detail::for_each_field(row, [&](std::string_view, const auto& field) {
            line.push_back(text_of(field));
        });
    }
    print_table(out, header, cells);
}

// One row, a line for each field.
template <class R>
void print_row(std::ostream& out, const R& row, bool json) {
    if (json) return print_json(out, object_of(row));
    detail::for_each_field(row, [&](std::string_view name, const auto& field) {
        out << name << std::string(name.size() < 20 ? 20 - name.size() : 1, ' ') << text_of(field)
            << '\n';
    });
}

}  // namespace pawl::cli
