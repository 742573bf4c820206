#pragma once

#include "tests/fuzz/fuzz.hpp"

#include <optional>
#include <string>
#include <string_view>

// JSON texts read by a second parser, other than ours and Boost's, and spelled in other ways.
namespace pawl::fuzz {

// Properties of an RFC 8259 text that Pawl refuses, or may refuse.
struct JsonFaults {
    bool too_deep{};  // More than 32 levels.
    bool twice{};     // A name is repeated in one object.
    bool large{};     // A number may not fit into 64 bits or a double.
    bool rounded{};   // A double changes a fraction.
    bool halved{};    // It has half of a surrogate pair.
    bool any() const { return too_deep || twice || large || rounded || halved; }
};
// nullopt: not JSON.
std::optional<JsonFaults> faults_of(std::string_view text);

// For a text that Pawl accepts: another spelling of the same value.
std::string spelled_anew(std::string_view json, Dice& dice);
// The same, possibly with one value changed.
std::string with_another_value(std::string_view json, Dice& dice);

}  // namespace pawl::fuzz
