#pragma once

// Strict parsing of JSON texts, and their canonical form. Internal: the public header is
// <pawl/detail/json.hpp>.
//
//   auto document = json::parse(body);                    // boost::json::value or DecodeProblem
//   std::string bytes = json::canonical(std::get<0>(document));
//
// Refused beyond RFC 8259 (Boost.JSON 1.81 accepts the first three silently):
// - duplicate names in one object, at any level;
// - a number whose double is infinite, or zero although the literal is not;
// - a whole number that neither 64 bits nor ECMAScript's text of a double holds (number.hpp);
// - more than 32 levels of objects and lists;
// - a fraction, or a number with an exponent, that a double would round (number.hpp).
// With Unknown::ignored, for texts of others, these limits hold only for the values that a struct
// reads: at most 1000 levels are parsed, half of a surrogate pair becomes U+FFFD, and a value that
// is refused above becomes NaN, which no read accepts.
// Doubles are read by std::from_chars, as Boost.JSON 1.81 may be off by a bit. 0 and -0 have the
// same canonical form.
//
// Canonical form: RFC 8785, with one deviation: whole numbers in [-2^63, 2^64) keep all their
// digits beyond 2^53, where the RFC would round them to doubles; so equal texts mean equal values,
// and 64-bit ids stay apart.

#include <pawl/detail/json_read.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace pawl::json {

using detail::Nul;
using detail::Unknown;

inline constexpr std::size_t depth_max = 32;
inline constexpr std::size_t lenient_depth_max = 1'000;  // The parser calls itself.

std::variant<boost::json::value, DecodeProblem> parse(
    std::string_view text,
    Nul nul = Nul::allowed,
    boost::json::storage_ptr storage = {},
    Unknown unknown = Unknown::refused
);

std::string canonical(const boost::json::value& value);
std::variant<std::string, DecodeProblem> canonical_text(std::string_view json);

}  // namespace pawl::json
