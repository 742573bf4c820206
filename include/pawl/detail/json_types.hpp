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

#include <pawl/detail/never.hpp>
#include <pawl/detail/reflect.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
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

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

template <class T>
concept WholeNumber = std::integral<T> && sizeof(T) <= 8 &&
                      !OneOf<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <class T>
concept RealNumber = OneOf<T, double, float>;

template <class T>
concept Word = std::is_enum_v<T>;

// A struct; std::array and other tuple-like classes are not records.
template <class T>
concept Record = std::is_class_v<T> && std::is_aggregate_v<T> && !requires {
    std::tuple_size<T>::value;
};

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
concept Scalar = std::same_as<T, bool> || WholeNumber<T> || RealNumber<T> ||
    std::same_as<T, std::string> || Word<T>;

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
        std::is_pointer_v<T> || is_optional<T> || never<T>,
        "pawl: this type has no JSON form: use bool, a whole number, double, std::string, an "
        "enumeration, "
        "std::optional, std::vector or a plain struct of these"
    );
}

}  // namespace pawl::detail
