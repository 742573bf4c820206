#pragma once

#include <stdexcept>
#include <string>

namespace pawl {

// Why a request, a point or a job does not decode. Sent to clients as 400 request-invalid, so `why`
// is a sentence for them, and neither member echoes more than 40 characters of the input.
struct DecodeProblem {
    std::string field;  // "origin.lat", "stops[2].lon"; empty: the whole text.
    std::string why;    // "Must be a whole number."

    bool operator==(const DecodeProblem&) const = default;
};

// Thrown for a value without a JSON form: NaN, infinity, text that is not UTF-8, an enumeration's
// value without a name. A bug of the program.
class EncodeError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace pawl
