#pragma once

// encode(value) -> std::string. See json.hpp.

#include <pawl/detail/json_problem.hpp>
#include <pawl/detail/json_types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace pawl::detail {

// Composes JSON; the caller keeps begin and end in pairs. Text and numbers are as in RFC 8785.
class JsonWriter {
public:
    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_list() { begin('['); }
    void end_list() { end(']'); }
    void name(std::string_view field);     // A C++ field's name needs no escapes.
    void any_name(std::string_view name);  // Throws EncodeError if it is not UTF-8.

    void boolean(bool value);
    void integer(std::int64_t value);
    void natural(std::uint64_t value);
    void real(double value);            // Throws EncodeError if it is not finite.
    void text(std::string_view value);  // Throws EncodeError if it is not UTF-8.
    void word(const std::optional<std::string_view>& name);  // Throws EncodeError for nullopt.
    void time(TimePoint value);
    void decimal(std::int64_t units, int decimals);

    std::string take() { return std::move(text_); }

private:
    void begin(char bracket);
    void end(char bracket);
    void separate();
    [[noreturn]] void refuse(std::string_view why) const;

    std::string text_;
    std::string_view field_;  // The last name, for error texts.
    int depth_{};
};

template <class T>
void write_json(JsonWriter& out, const T& value);

template <Record T>
void write_fields(JsonWriter& out, const T& value) {
    static_assert(has_json_form<T>);
    for_each_field(value, [&out]<class F>(std::string_view name, const F& field) {
        if constexpr (is_optional<F>) {
            if (!field) return;
            out.name(name);
            write_json(out, *field);
        } else if constexpr (is_from_header<F>) {
            if (!field.value) return;
            out.name(name);
            out.text(*field.value);
        } else {
            out.name(name);
            write_json(out, field);
        }
    });
}

template <class T>
void write_map(JsonWriter& out, const T& value) {
    out.begin_object();
    for (const auto& [name, item] : value) {
        out.any_name(name);
        write_json(out, item);
    }
    out.end_object();
}

template <class T>
void write_tagged(JsonWriter& out, const T& value) {
    out.begin_object();
    std::visit(
        [&out]<class A>(const A& alternative) {
            out.name("type");
            out.text(A::tag);
            write_fields(out, alternative);
        },
        value
    );
    out.end_object();
}

template <class T>
void write_json(JsonWriter& out, const T& value) {
    if constexpr (std::same_as<T, bool>) {
        out.boolean(value);
    } else if constexpr (WholeNumber<T> && std::is_signed_v<T>) {
        out.integer(value);
    } else if constexpr (WholeNumber<T>) {
        out.natural(value);
    } else if constexpr (RealNumber<T>) {
        out.real(static_cast<double>(value));
    } else if constexpr (std::same_as<T, std::string>) {
        out.text(value);
    } else if constexpr (Word<T>) {
        out.word(enum_name(value));
    } else if constexpr (std::same_as<T, TimePoint>) {
        out.time(value);
    } else if constexpr (is_duration<T>) {
        write_json(out, value.count());
    } else if constexpr (DecimalAmount<T>) {
        out.decimal(value.units, decimals_of<T>);
    } else if constexpr (is_vector<T>) {
        out.begin_list();
        for (const auto& item : value) write_json<typename T::value_type>(out, item);
        out.end_list();
    } else if constexpr (StrongType<T>) {
        for_each_field(value, [&out](std::string_view, const auto& field) {
            write_json(out, field);
        });
    } else if constexpr (Record<T>) {
        out.begin_object();
        write_fields(out, value);
        out.end_object();
    } else if constexpr (is_text_map<T>) {
        write_map(out, value);
    } else if constexpr (has_tags<T>) {
        write_tagged(out, value);
    } else {
        refuse_type<T>();
    }
}

// The JSON text of a point, a job or a response, its fields in their order. Throws EncodeError.
template <class T>
std::string encode(const T& value) {
    JsonWriter out;
    write_json(out, value);
    return out.take();
}

}  // namespace pawl::detail
