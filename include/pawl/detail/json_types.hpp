#pragma once

// The types with a JSON form. Encoding or decoding any other type does not compile.
//
//   bool, every whole number type but the character types, double, float, std::string
//   a typed enumeration          its enumerator's name as a string
//   a plain struct               an object, one member for each field
//   a strong type                a struct whose only field is named `value` and is not optional:
//                                written as that value
//   std::optional, as a field    no member when empty; null is read as empty
//   std::vector                  a list; not of std::optional
//   std::map<std::string, T>     an object with any names
//   std::variant of structs      an object with a member `type`, the alternative's `static
//   constexpr
//                                std::string_view tag`
//   TimePoint                    a time as of RFC 3339: "2026-11-21T04:30:00.123Z"
//   std::chrono durations        a whole number of their unit
//   Decimal<n>                   a string: "12.34"
//   FromHeader<name>, of a request: a string as a field, no member when empty

#include <pawl/decimal.hpp>
#include <pawl/detail/never.hpp>
#include <pawl/detail/reflect.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/from_header.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace pawl::detail {

template <class T>
constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
constexpr bool is_text_map = false;
template <class T>
inline constexpr bool is_text_map<std::map<std::string, T>> = true;

template <class T>
constexpr bool is_variant = false;
template <class... A>
inline constexpr bool is_variant<std::variant<A...>> = true;

template <class T>
constexpr int decimals_of = -1;
template <int N>
inline constexpr int decimals_of<Decimal<N>> = N;
template <class T>
concept DecimalAmount = (decimals_of<T> >= 0);

template <class T>
constexpr bool is_from_header = false;
template <FixedString Name>
inline constexpr bool is_from_header<FromHeader<Name>> = true;
template <class T>
constexpr std::string_view header_name{};
template <FixedString Name>
inline constexpr std::string_view header_name<FromHeader<Name>> = Name.view();

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

template <class T>
concept WholeNumber = std::integral<T> && sizeof(T) <= 8 &&
                      !OneOf<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <class T>
concept RealNumber = OneOf<T, double, float>;

template <class T>
concept Word = std::is_enum_v<T> && !std::same_as<T, std::byte>;

template <class T>
constexpr bool is_duration = false;
template <WholeNumber R, class P>
inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;

// A struct; std::array and other tuple-like classes are not records.
template <class T>
concept Record = std::is_class_v<T> && std::is_aggregate_v<T> && !DecimalAmount<T> && !requires {
    std::tuple_size<T>::value;
};

// One of the structs of a variant.
template <class T>
concept Tagged = Record<T> && requires {
    { T::tag } -> std::convertible_to<std::string_view>;
};
template <class T>
constexpr bool has_tags = false;
template <class... A>
inline constexpr bool has_tags<std::variant<A...>> = (Tagged<A> && ...);

template <Record T>
constexpr bool has_only_a_value() {
    if constexpr (field_count<T> == 1)
        return field_names<T>[0] == "value" && !is_optional<FieldType<T, 0>>;
    else
        return false;
}

template <class T>
concept StrongType = Record<T> && has_only_a_value<T>();

template <class T>
concept Scalar =
    std::same_as<T, bool> || WholeNumber<T> || RealNumber<T> || std::same_as<T, std::string> ||
    Word<T> || std::same_as<T, TimePoint> || is_duration<T> || DecimalAmount<T>;

// The last branch of every `if constexpr` over these kinds.
template <class T>
constexpr void refuse_type() {
    static_assert(
        !std::is_pointer_v<T>, "pawl: a pointer has no JSON form: use a value or std::optional"
    );
    static_assert(
        !is_optional<T>,
        "pawl: std::optional has a JSON form as a field only, not inside std::vector or "
        "std::optional"
    );
    static_assert(
        !is_variant<T>,
        "pawl: a std::variant has a JSON form if each alternative is a struct with a `static "
        "constexpr std::string_view tag`"
    );
    static_assert(
        std::is_pointer_v<T> || is_optional<T> || is_variant<T> || never<T>,
        "pawl: this type has no JSON form: use bool, a whole number, double, std::string, an "
        "enumeration, pawl::TimePoint, a duration in whole numbers, pawl::Decimal, std::optional, "
        "std::vector, std::map<std::string, T>, or a plain struct of these"
    );
}

template <class T>
constexpr bool check_type() {
    if constexpr (is_vector<T>)
        return check_type<typename T::value_type>();
    else if constexpr (is_text_map<T>)
        return check_type<typename T::mapped_type>();
    else if constexpr (Word<T>)
        (void)enum_names<T>;
    else if constexpr (!Scalar<T> && !Record<T> && !has_tags<T>)
        refuse_type<T>();
    return true;
}

// The compiler's message about a field's type has these arguments, and so the name of the field.
template <class Struct, FieldAddress Field, class Type>
constexpr bool check_field() {
    if constexpr (is_optional<Type>)
        return check_type<typename Type::value_type>();
    else
        return is_from_header<Type> || check_type<Type>();
}

template <class T, std::size_t... I>
constexpr bool check_fields(std::index_sequence<I...>) {
    return (check_field<T, field_address<T, I>, FieldType<T, I>>() && ...);
}

// Whether each field of a struct has a JSON form, or else the program does not compile.
template <Record T>
constexpr bool has_json_form = check_fields<T>(std::make_index_sequence<field_count<T>>{});

}  // namespace pawl::detail
