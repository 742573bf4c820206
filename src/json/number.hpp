#pragma once

// JSON numbers: exact whole numbers if they fit 64 bits, otherwise doubles; none changes silently.

#include <pawl/detail/json_problem.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace pawl::json {

// Unsigned only above the signed range, so that each whole number has one form.
using Number = std::variant<std::int64_t, std::uint64_t, double>;

inline constexpr std::string_view out_of_double =
    "Is a number too large or too small for a double.";

// The value of a literal that follows JSON's grammar, or why it is refused:
// - a literal of digits only is exact or refused: it must fit int64 or uint64, or be the text that
//   ECMAScript writes for a double (295147905179352830000), as a JavaScript client or our own
//   encoder sends it;
// - any other literal is the nearest double. It is refused if that is infinite, zero for a literal
//   that is not, or a different number: the literal must be the double's canonical text
//   (append_number), or the double rounded to the literal's number of digits, 17 at most, as
//   printf("%.17g") writes it. So a decimal of up to 15 digits below 10^15 is always kept, and
//   0.10000000000000000001 is refused.
std::variant<Number, std::string> number_of(std::string_view literal);

// Whether the whole text is a number by JSON's grammar: no white space, plus sign, leading zero,
// hex.
bool is_number(std::string_view text);

// RFC 8785, 3.2.2.3 (ECMAScript's Number::toString), but every whole number in [-2^63, 2^64) is
// written with all its digits, so that equal texts mean equal values beyond 2^53, too. Doubles must
// be finite.
void append_number(std::string& out, std::int64_t value);
void append_number(std::string& out, std::uint64_t value);
void append_number(std::string& out, double value);

// False, with a reason in problem.why, if the type can't hold the value. A double counts as a whole
// number if it is one below 2^53: 1.0 and 1e0 are 1.
bool to_integer(
    Number number, std::int64_t least, std::int64_t most, std::int64_t& out, DecodeProblem& problem
);
bool to_natural(Number number, std::uint64_t most, std::uint64_t& out, DecodeProblem& problem);
bool to_real(Number number, double& out, DecodeProblem& problem);
bool to_real(Number number, float& out, DecodeProblem& problem);

}  // namespace pawl::json
