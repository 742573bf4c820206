#pragma once

// The fields of a plain struct, without a macro:
//
//   struct Place { double lat; double lon; };
//   field_count<Place>                                    // 2
//   field_name<Place, 1>()                                // "lon"
//   for_each_field(place, [](std::string_view name, auto& field) { ... });
//
//   enum class Ride { shared, alone };
//   enum_name(Ride::alone)                                // "alone"; nothing for Ride(7)
//   enum_from_name<Ride>("shared")                        // Ride::shared
//
// Boost.PFR counts and accesses the fields; 1.81 has no names. The compiler prints a name in
// __PRETTY_FUNCTION__ when the address of a field of a static object is a template argument, as PFR
// 2.2 and reflect-cpp use it. The object is an inactive member of a union, so nothing is
// constructed and, unlike an `extern` object, it supports types without linkage (local classes,
// unnamed namespaces).
//
// Not supported, each with a compile-time message: base classes, C arrays of two or more elements,
// reference and const fields, classes with constructors, enumerations without a fixed type (`enum E
// : int` has one). The codec (json_types.hpp) limits the types of fields further. Enumerators are
// found from -16 to 127.

#include <boost/pfr/core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pawl::detail {

// Converts to any field. Never called: the bodies are for compilers that need them if T has no
// linkage.
template <std::size_t>
struct AnyField {
    template <class T>
    operator T&&() const&& noexcept {
        std::abort();
    }
};

template <class T>
struct AnyBase {
    template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>) operator B&() const& noexcept {
        std::abort();
    }
};

template <class T>
concept HasBase = requires {
    T{AnyBase<T>{}};
};

// An empty pair of braces at index I takes one field; for an array it takes all elements, so that
// the values after it are too many.
template <class T, std::size_t... Before, std::size_t... After>
constexpr bool takes_braces(std::index_sequence<Before...>, std::index_sequence<After...>) {
    return requires {
        T{AnyField<Before>{}..., {}, AnyField<After>{}...};
    };
}

template <class T, std::size_t N, std::size_t... I>
constexpr bool has_array(std::index_sequence<I...>) {
    return !(
        ... && takes_braces<T>(std::make_index_sequence<I>{}, std::make_index_sequence<N - I - 1>{})
    );
}

template <class T>
constexpr std::size_t count_fields() {
    constexpr bool plain = std::is_class_v<T> && std::is_aggregate_v<T>;
    static_assert(
        plain,
        "pawl: this type must be a plain struct: public fields, no constructor, no virtual function"
    );
    if constexpr (plain) {
        constexpr bool defaults = std::is_default_constructible_v<T>;
        static_assert(
            defaults,
            "pawl: a field of this struct has no default value (references and const fields are "
            "not supported)"
        );
        constexpr bool based = HasBase<T>;
        static_assert(
            !based, "pawl: a struct with a base class is not supported: make the base a field"
        );
        if constexpr (defaults && !based) {
            constexpr std::size_t count = boost::pfr::tuple_size_v<T>;
            constexpr bool array = has_array<T, count>(std::make_index_sequence<count>{});
            static_assert(!array, "pawl: a C array is not supported as a field: use std::vector");
            return array ? 0 : count;
        }
    }
    return 0;
}

template <class T>
constexpr std::size_t field_count = count_fields<std::remove_cv_t<T>>();

template <class T, std::size_t I>
using FieldType = boost::pfr::tuple_element_t<I, std::remove_cv_t<T>>;

template <class T>
union Unmade {
    char nothing;
    T value;
    constexpr Unmade() : nothing{} {}
    // NOLINT(modernize-use-equals-default): a defaulted destructor would be deleted in a union.
    constexpr ~Unmade() {}
};

// clang 14 refuses constexpr here if T has a member such as std::unique_ptr; without it g++ 12
// registers a destructor.
template <class T>
struct Somewhere {
#ifdef __clang__
    static inline const Unmade<T> unmade{};
#else
    static constexpr Unmade<T> unmade{};
#endif
};

// clang 14 accepts the address of a subobject as a template argument only inside a struct.
template <class P>
struct FieldAddress {
    P address;
};
template <class P>
FieldAddress(P) -> FieldAddress<P>;

constexpr bool is_name_character(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}

// The last name in `text`, which ends with it; empty if a number is there instead.
constexpr std::string_view last_name(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && is_name_character(text[begin - 1])) --begin;
    auto name = text.substr(begin);
    // (Color)5 and (Flag)true are values without a name.
    bool cast = begin > 0 && (text[begin - 1] == ')' || text[begin - 1] == '-');
    bool number = name.empty() || (name[0] >= '0' && name[0] <= '9');
    return cast || number ? std::string_view{} : name;
}

// g++:   ... [with ... P = ...{(& Somewhere<T>::unmade.Unmade<T>::value.T::lat)}; std::string_view
// = ...] clang: ... [Address = {&unmade.value.lat}]
template <FieldAddress Address>
constexpr std::string_view name_at() {
    std::string_view text = __PRETTY_FUNCTION__;
    auto end = text.rfind('}');
    if (text[end - 1] == ')') --end;
    return last_name(text.substr(0, end));
}

template <class T, std::size_t I>
constexpr FieldAddress field_address{
    &boost::pfr::get<I>(Somewhere<std::remove_cv_t<T>>::unmade.value)};

template <class T, std::size_t I>
constexpr std::string_view field_name() {
    constexpr auto name = name_at<field_address<T, I>>();
    static_assert(!name.empty(), "pawl: this compiler does not tell the names of fields");
    return name;
}

template <class T, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> list_field_names(std::index_sequence<I...>) {
    return {field_name<T, I>()...};
}

template <class T>
constexpr auto field_names = list_field_names<T>(std::make_index_sequence<field_count<T>>{});

// Calls f(std::string_view name, auto& field) for each field, in order. T may be const.
template <class T, class F>
constexpr void for_each_field(T& value, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f(field_names<std::remove_cv_t<T>>[I], boost::pfr::get<I>(value)), ...);
    }
    (std::make_index_sequence<field_count<T>>{});
}

inline constexpr int first_enumerator = -16;
inline constexpr int last_enumerator = 127;

// g++:   ... [with auto Value = Ride::alone; std::string_view = ...]     clang: ... [Value =
// Ride::alone]
template <auto Value>
constexpr std::string_view value_name() {
    std::string_view text = __PRETTY_FUNCTION__;
    auto end = text.find(';', text.rfind("Value = "));
    return last_name(text.substr(0, end == text.npos ? text.size() - 1 : end));
}

template <class E, int Value>
constexpr std::string_view enumerator_name() {
    using Underlying = std::underlying_type_t<E>;
    if constexpr (std::is_same_v<Underlying, bool>) {
        if constexpr (Value == 0 || Value == 1) return value_name<static_cast<E>(Value == 1)>();
    } else if constexpr (std::in_range<std::conditional_t<
                             (sizeof(Underlying) > 1),
                             Underlying,
                             std::conditional_t<
                                 std::is_signed_v<Underlying>,
                                 std::int8_t,
                                 std::uint8_t>>>(Value)) {
        return value_name<static_cast<E>(static_cast<Underlying>(Value))>();
    }
    return {};
}

template <class E, int... Offset>
constexpr std::array<std::string_view, sizeof...(Offset)>
list_enum_names(std::integer_sequence<int, Offset...>) {
    return {enumerator_name<E, first_enumerator + Offset>()...};
}

// An enumeration with a fixed type may hold any value of it, so each can be tested for a name.
template <class E>
concept TypedEnum = std::is_enum_v<E> && requires {
    E{0};
};

template <class E>
constexpr auto all_enum_names() {
    static_assert(
        TypedEnum<E>, "pawl: this enumeration needs a type: write enum class E, or enum E : int"
    );
    if constexpr (TypedEnum<E>)
        return list_enum_names<E>(
            std::make_integer_sequence<int, last_enumerator - first_enumerator + 1>{}
        );
    else
        return std::array<std::string_view, 0>{};
}

// By value, from first_enumerator on; an empty name: no enumerator.
template <class E>
constexpr auto enum_names = all_enum_names<E>();

template <class E>
constexpr std::optional<std::string_view> enum_name(E value) {
    auto number = static_cast<std::underlying_type_t<E>>(value);
    for (std::size_t i = 0; i < enum_names<E>.size(); ++i) {
        if (enum_names<E>[i].empty()) continue;
        auto here = first_enumerator + static_cast<int>(i);
        if (static_cast<std::underlying_type_t<E>>(here) == number) return enum_names<E>[i];
    }
    return std::nullopt;
}

template <class E>
constexpr std::optional<E> enum_from_name(std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (std::size_t i = 0; i < enum_names<E>.size(); ++i)
        if (enum_names<E>[i] == name)
            return static_cast<E>(
                static_cast<std::underlying_type_t<E>>(first_enumerator + static_cast<int>(i))
            );
    return std::nullopt;
}

}  // namespace pawl::detail
