#pragma once

#include "tests/fuzz/fuzz.hpp"

#include <optional>
#include <string>
#include <string_view>

// JSON texts read a second time, by other code than ours and Boost's, and written in other ways.
namespace pawl::fuzz {

// What a JSON text by RFC 8259 has that Pawl refuses, or may refuse.
struct JsonFaults {
    bool too_deep{};  // More than 32 levels.
    bool twice{};     // A name, in one object.
    bool large{};     // A number that 64 bits or a double may not hold.
    bool rounded{};   // A fraction that a double changes.
    bool any() const { return too_deep || twice || large || rounded; }
};
// Nothing of what is no JSON.
std::optional<JsonFaults> faults_of(std::string_view text);

// Of a text that Pawl accepts: the same, spelled in another way.
std::string spelled_anew(std::string_view json, Dice& dice);
// And one that may differ in a single value.
std::string with_another_value(std::string_view json, Dice& dice);

}  // namespace pawl::fuzz
