#pragma once

#include <pawl/detail/json_types.hpp>
#include <pawl/detail/reflect.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/statement.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// C++ values to statement parameters, and rows back to C++ values.
namespace pawl::detail {

[[noreturn]] void throw_row_count(std::string_view statement, std::size_t rows);
[[noreturn]] void throw_row_value(std::string_view statement, int column, std::string_view why);
[[noreturn]] void throw_parameter(std::string_view statement, std::string_view why);
std::string text_of_time(TimePoint at);
TimePoint time_of_text(std::string_view text, std::string_view statement, int column);

// A strong type, such as an id, is bound and read as its field.
template <class T>
constexpr bool has_one_field() {
    if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>)
        return field_count<T> == 1;
    else
        return false;
}

// `made` holds the text of a value that is not a text itself (a time), until the statement has run.
template <class T>
Value bind_value(
    const T& value, [[maybe_unused]] std::string_view statement, [[maybe_unused]] std::string& made
) {
    if constexpr (is_optional<T>) {
        if (!value) return std::monostate{};
        return bind_value(*value, statement, made);
    } else if constexpr (std::same_as<T, std::nullopt_t>) {
        return std::monostate{};
    } else if constexpr (is_duration<T>) {
        return bind_value(value.count(), statement, made);
    } else if constexpr (std::same_as<T, bool> || std::signed_integral<T>) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (std::unsigned_integral<T>) {
        if (!std::in_range<std::int64_t>(value)) throw_parameter(statement, "a number over 2^63");
        return static_cast<std::int64_t>(value);
    } else if constexpr (std::floating_point<T>) {
        if (std::isnan(value)) throw_parameter(statement, "NaN");
        return static_cast<double>(value);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        return std::string_view{value};
    } else if constexpr (std::same_as<T, std::vector<std::byte>>) {
        return Bytes{{reinterpret_cast<const char*>(value.data()), value.size()}};
    } else if constexpr (std::same_as<T, TimePoint>) {
        made = text_of_time(value);
        return std::string_view{made};
    } else if constexpr (std::is_enum_v<T>) {
        const auto word = enum_name(value);
        if (!word) throw_parameter(statement, "an enum value without a name");
        return *word;
    } else {
        static_assert(
            has_one_field<T>(),
            "pawl: a parameter is a number, text, enum, time, optional, std::vector<std::byte>, or "
            "an aggregate of one "
            "such field"
        );
        Value bound;
        if constexpr (has_one_field<T>())
            for_each_field(value, [&](std::string_view, const auto& field) {
                bound = bind_value(field, statement, made);
            });
        return bound;
    }
}

template <class F, class... A>
auto with_values(const Sql& statement, F f, const A&... arguments) {
    [[maybe_unused]] std::array<std::string, sizeof...(A)> made{};
    std::array<Value, sizeof...(A)> values{};
    [[maybe_unused]] std::size_t at = 0;
    ((values[at] = bind_value(arguments, statement.name, made[at]), ++at), ...);
    return f(std::span<const Value>{values});
}

template <class... A>
std::int64_t run_statement(
    Session& session,
    const Sql& statement,
    FunctionRef<void(const Row&)> each,
    const A&... arguments
) {
    return with_values(
        statement,
        [&](std::span<const Value> values) { return session.run(statement, values, each); },
        arguments...
    );
}

// What `read` makes of each row.
template <class Read, class... A>
auto read_rows(Session& session, const Sql& statement, Read read, const A&... arguments) {
    std::vector<std::invoke_result_t<Read&, const Row&>> rows;
    run_statement(
        session, statement, [&](const Row& row) { rows.push_back(read(row)); }, arguments...
    );
    return rows;
}

// What `read` makes of the last row; nullopt: there is none.
template <class Read, class... A>
auto read_row(Session& session, const Sql& statement, Read read, const A&... arguments) {
    std::optional<std::invoke_result_t<Read&, const Row&>> found;
    run_statement(
        session, statement, [&](const Row& row) { found = read(row); }, arguments...
    );
    return found;
}

// For read_rows() and read_row().
inline std::int64_t first_number(const Row& row) {
    return row.integer(0);
}

// For a statement whose rows, if it returns any, do not matter. Returns how many it touched.
template <class... A>
std::int64_t execute_statement(Session& session, const Sql& statement, const A&... arguments) {
    return run_statement(
        session, statement, [](const Row&) {}, arguments...
    );
}

// For Session::send() and fence().
template <class... A>
void send_statement(Session& session, const Sql& statement, const A&... arguments) {
    with_values(
        statement,
        [&](std::span<const Value> values) { session.send(statement, values); },
        arguments...
    );
}
// Binds each field of a struct to the parameter of its name. They stand in the same order in the
// statement and in the struct.
template <const auto& statement, class Fields>
void send_fields(Session& session, const Fields& fields) {
    static_assert(
        field_names<Fields> == statement.names,
        "pawl: the fields of this struct are not named as the parameters of the statement"
    );
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        send_statement(session, statement, boost::pfr::get<I>(fields)...);
    }
    (std::make_index_sequence<field_count<Fields>>{});
}
template <class... A>
void fence_statement(Session& session, const Sql& statement, const A&... arguments) {
    with_values(
        statement,
        [&](std::span<const Value> values) { session.fence(statement, values); },
        arguments...
    );
}

template <class T>
T column_as(const Row& row, int column, std::string_view statement) {
    if constexpr (is_optional<T>) {
        if (row.is_null(column)) return std::nullopt;
        return column_as<typename T::value_type>(row, column, statement);
    } else if constexpr (std::same_as<T, bool>) {
        return row.integer(column) != 0;
    } else if constexpr (std::integral<T>) {
        const std::int64_t wide = row.integer(column);
        if (!std::in_range<T>(wide)) throw_row_value(statement, column, "a number out of range");
        return static_cast<T>(wide);
    } else if constexpr (is_duration<T>) {
        return T{column_as<typename T::rep>(row, column, statement)};
    } else if constexpr (std::floating_point<T>) {
        return static_cast<T>(row.real(column));
    } else if constexpr (std::same_as<T, std::string>) {
        return std::string{row.text(column)};
    } else if constexpr (std::same_as<T, std::vector<std::byte>>) {
        const auto bytes = std::as_bytes(std::span{row.bytes(column)});
        return {bytes.begin(), bytes.end()};
    } else if constexpr (std::same_as<T, TimePoint>) {
        return time_of_text(row.text(column), statement, column);
    } else if constexpr (std::is_enum_v<T>) {
        const auto value = enum_from_name<T>(row.text(column));
        if (!value) throw_row_value(statement, column, "a word that is no enumerator");
        return *value;
    } else {
        static_assert(
            has_one_field<T>(),
            "pawl: a column is a number, text, enum, time, optional, std::vector<std::byte>, or an "
            "aggregate of one "
            "such field"
        );
        T value{};
        if constexpr (has_one_field<T>())
            for_each_field(value, [&](std::string_view, auto& field) {
                field = column_as<std::remove_cvref_t<decltype(field)>>(row, column, statement);
            });
        return value;
    }
}

template <class R>
inline constexpr bool is_row = std::is_aggregate_v<R> && !std::is_enum_v<R>;

template <class R>
R row_as(const Row& row, std::string_view statement) {
    constexpr int wanted = [] {
        if constexpr (is_row<R>) return static_cast<int>(field_count<R>);
        return 1;
    }();
    if (row.columns() != wanted)
        throw_row_value(
            statement, row.columns(), "the number of columns differs from the number of fields"
        );
    if constexpr (is_row<R>) {
        R result{};
        int column = 0;
        for_each_field(result, [&](std::string_view, auto& field) {
            field = column_as<std::remove_cvref_t<decltype(field)>>(row, column++, statement);
        });
        return result;
    } else {
        return column_as<R>(row, 0, statement);
    }
}

}  // namespace pawl::detail
