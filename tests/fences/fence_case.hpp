#pragma once

#include <pawl/statement.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// What each statement must let through, and what it must refuse. Each table has one row, of
// rows.hpp, which the statement changes or finds when nothing is varied.
namespace pawl::fences {

using namespace std::string_literals;

using Arg = std::variant<std::monostate, std::int64_t, std::string>;
inline constexpr std::monostate null;

// The row with another value in one column, or the statement with another number: "$1".
struct Variation {
    std::string column;  // Of the case's table, or "table.column"; both also with "@condition".
    std::string value;   // As SQL.
    bool passes{};
};
using Variations = std::vector<Variation>;

struct Case {
    const Sql* sql;
    std::vector<Arg> values;
    std::string table;
    std::vector<Variations> columns;
    // Run before each trial: the rows that the case is about, as far as they differ.
    std::vector<std::string> with{};
    // A query that returns 1 if the statement did its work, for one that changes a row either way.
    std::string observed{};
    // A row counts if this column of it has this value; null: any value but NULL.
    struct Shown {
        int column;
        Arg value;
    };
    std::optional<Shown> shown{};
    // sqlite: the condition is in the statement of SQLite alone.
    enum class On { both, sqlite } on{On::both};
};

inline std::string literal(const std::string& text) {
    return "'" + text + "'";
}

inline Variations refuses(const std::string& column, const std::vector<std::string>& values) {
    Variations all;
    for (const auto& value : values) all.push_back({column, value, false});
    return all;
}
inline Variations passes(const std::string& column, const std::vector<std::string>& values) {
    Variations all;
    for (const auto& value : values) all.push_back({column, value, true});
    return all;
}

// The text just below or above: a time ends with 500Z, by which it is a millisecond.
inline std::string text_by(const std::string& text, int by) {
    auto other = text;
    if (other.ends_with("500Z"))
        other.replace(other.size() - 4, 3, by < 0 ? "499" : "501");
    else
        other.back() = static_cast<char>(other.back() + by);
    return literal(other);
}
inline std::string by(int value, int more) {
    return std::to_string(value + more);
}
inline std::string by(const std::string& value, int more) {
    return more == 0 ? literal(value) : text_by(value, more);
}

// Only this value: neither one below, nor one above.
template <class T>
Variations is(const std::string& column, const T& value) {
    return refuses(column, {by(value, -1), by(value, 1)});
}
// Which of one below, the value and one above pass.
template <class T>
Variations around(
    const std::string& column, const T& value, bool one_below, bool itself, bool one_above
) {
    return {
        {column, by(value, -1), one_below},
        {column, by(value, 0), itself},
        {column, by(value, 1), one_above}};
}
template <class T>
Variations at_most(const std::string& column, const T& value) {
    return around(column, value, true, true, false);
}
template <class T>
Variations at_least(const std::string& column, const T& value) {
    return around(column, value, false, true, true);
}
template <class T>
Variations below(const std::string& column, const T& value) {
    return around(column, value, true, false, false);
}
template <class T>
Variations above(const std::string& column, const T& value) {
    return around(column, value, false, false, true);
}
inline Variations not_null(const std::string& column) {
    return refuses(column, {"NULL"});
}

// Two more rows, with the ids beside the one of the table.
inline std::string neighbours_of(const std::string& table, const std::string& columns) {
    return "INSERT INTO " + table + " (id, " + columns + ") SELECT id + more, " + columns +
           " FROM " + table + ", (SELECT 1 AS more UNION SELECT -1) AS two";
}

}  // namespace pawl::fences
