#pragma once

// The JSON Schema (2020-12, as OpenAPI 3.1 uses it) of the types in json_types.hpp.

#include <pawl/detail/json_types.hpp>
#include <pawl/detail/json_write.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::detail {

// A field of a request, by itself.
struct FieldSchema {
    std::string name;
    std::string header;  // From this header; empty: from the path, the query or the body.
    bool required{};
    std::string schema;  // JSON.
};

inline void write_type(JsonWriter& out, std::string_view type) {
    out.name("type");
    out.text(type);
}

template <class T>
void write_schema(JsonWriter& out);

template <WholeNumber T>
void write_integer_schema(JsonWriter& out) {
    write_type(out, "integer");
    out.name("minimum");
    write_json(out, std::numeric_limits<T>::min());
    out.name("maximum");
    write_json(out, std::numeric_limits<T>::max());
}

template <class E>
void write_enum_schema(JsonWriter& out) {
    write_type(out, "string");
    out.name("enum");
    out.begin_list();
    for (const auto name : enum_names<E>)
        if (!name.empty()) out.text(name);
    out.end_list();
}

template <class T>
void write_scalar_schema(JsonWriter& out) {
    if constexpr (std::same_as<T, bool>) {
        write_type(out, "boolean");
    } else if constexpr (WholeNumber<T>) {
        write_integer_schema<T>(out);
    } else if constexpr (is_duration<T>) {
        write_integer_schema<typename T::rep>(out);
    } else if constexpr (RealNumber<T>) {
        write_type(out, "number");
    } else if constexpr (Word<T>) {
        write_enum_schema<T>(out);
    } else {
        write_type(out, "string");
        if constexpr (std::same_as<T, TimePoint>) {
            out.name("format");
            out.text("date-time");
        } else if constexpr (DecimalAmount<T>) {
            out.name("pattern");
            const auto decimals = std::to_string(decimals_of<T>);
            out.text("^-?(0|[1-9][0-9]*)(\\.[0-9]{1," + decimals + "})?$");
        }
    }
}

// The members of an object; `tag`: of a variant, also its type.
template <Record T>
void write_object_schema(JsonWriter& out, std::string_view tag = {}) {
    static_assert(has_json_form<T>);
    write_type(out, "object");
    out.name("properties");
    out.begin_object();
    std::vector<std::string_view> required;
    if (!tag.empty()) {
        out.name("type");
        out.begin_object();
        out.name("const");
        out.text(tag);
        out.end_object();
        required.push_back("type");
    }
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        [[maybe_unused]] const auto add = [&]<class F>(std::string_view name, const F*) {
            if constexpr (!is_from_header<F>) {
                out.name(name);
                write_schema<F>(out);
                if (!is_optional<F>) required.push_back(name);
            }
        };
        (add(field_name<T, I>(), static_cast<const FieldType<T, I>*>(nullptr)), ...);
    }
    (std::make_index_sequence<field_count<T>>{});
    out.end_object();
    out.name("required");
    out.begin_list();
    for (const auto name : required) out.text(name);
    out.end_list();
    out.name("additionalProperties");
    out.boolean(false);
}

template <class... A>
void write_variant_schema(JsonWriter& out, const std::variant<A...>*) {
    out.name("oneOf");
    out.begin_list();
    const auto add = [&]<class One>(const One*) {
        out.begin_object();
        write_object_schema<One>(out, One::tag);
        out.end_object();
    };
    (add(static_cast<const A*>(nullptr)), ...);
    out.end_list();
}

template <class T>
void write_schema_members(JsonWriter& out) {
    if constexpr (Scalar<T>) {
        write_scalar_schema<T>(out);
    } else if constexpr (is_optional<T>) {
        write_schema_members<typename T::value_type>(out);
    } else if constexpr (is_vector<T>) {
        write_type(out, "array");
        out.name("items");
        write_schema<typename T::value_type>(out);
    } else if constexpr (is_text_map<T>) {
        write_type(out, "object");
        out.name("additionalProperties");
        write_schema<typename T::mapped_type>(out);
    } else if constexpr (has_tags<T>) {
        write_variant_schema(out, static_cast<const T*>(nullptr));
    } else if constexpr (StrongType<T>) {
        write_schema_members<FieldType<T, 0>>(out);
    } else if constexpr (Record<T>) {
        write_object_schema<T>(out);
    } else {
        refuse_type<T>();
    }
}

template <class T>
void write_schema(JsonWriter& out) {
    out.begin_object();
    write_schema_members<T>(out);
    out.end_object();
}

template <class T>
std::string schema_text() {
    JsonWriter out;
    write_schema<T>(out);
    return out.take();
}

template <Record R>
std::vector<FieldSchema> request_schema() {
    std::vector<FieldSchema> fields;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        [[maybe_unused]] const auto add = [&]<class F>(std::string_view name, const F*) {
            JsonWriter out;
            if constexpr (is_from_header<F>)
                write_schema<std::string>(out);
            else
                write_schema<F>(out);
            fields.push_back(
                {.name = std::string{name},
                 .header = std::string{header_name<F>},
                 .required = !is_optional<F> && !is_from_header<F>,
                 .schema = out.take()}
            );
        };
        (add(field_name<R, I>(), static_cast<const FieldType<R, I>*>(nullptr)), ...);
    }
    (std::make_index_sequence<field_count<R>>{});
    return fields;
}

}  // namespace pawl::detail
