#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

// For options that have a problem().
namespace pawl::base {

// "connections_max is 0: at least 1"
template <class Number>
std::string wrong_option(std::string_view name, Number value, std::string_view allowed) {
    return std::string{name} + " is " + std::to_string(value) + ": " + std::string{allowed};
}

// nullopt: it is in the range.
template <class Number>
std::optional<std::string> out_of(
    std::string_view name,
    Number value,
    std::type_identity_t<Number> least,
    std::type_identity_t<Number> most
) {
    if (value >= least && value <= most) return std::nullopt;
    return wrong_option(name, value, std::to_string(least) + " to " + std::to_string(most));
}

// Returns the options; throws std::invalid_argument if they have a problem().
template <class Options>
Options checked(Options options, std::string_view name) {
    if (const auto why = options.problem())
        throw std::invalid_argument{std::string{name} + ": " + *why};
    return options;
}

}  // namespace pawl::base
