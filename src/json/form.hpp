#pragma once

// application/x-www-form-urlencoded: bodies of HTML forms, and query strings.
//
//   name=value pairs between &; a plus sign is a space; %XX is a byte. Stricter than the WHATWG URL
//   standard: at most 100 pairs, no empty name (so no && and no & at an end), no broken escape;
//   decoded texts must be UTF-8 without U+0000. A pair without = has the empty value.

#include <pawl/detail/json_problem.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::json {

inline constexpr std::size_t pairs_max = 100;

struct Pair {
    std::string name;
    std::string value;

    bool operator==(const Pair&) const = default;
};

std::variant<std::vector<Pair>, DecodeProblem> parse_pairs(std::string_view text);

// Sorted by name (bytes), pairs of one name in their order, in one encoding: letters, digits and -
// . _ ~ as they are, all else as %XX.
std::string canonical(std::vector<Pair> pairs);
std::variant<std::string, DecodeProblem> canonical_pairs(std::string_view text);

}  // namespace pawl::json
