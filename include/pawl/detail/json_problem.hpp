#pragma once

#include <stdexcept>
#include <string>

namespace pawl {

// Why a request, a point or a job could not be read. Goes into the answer 400 request-invalid as it
// stands, so `why` is a sentence for the client, and neither part echoes more than 40 characters of
// what was sent.
struct DecodeProblem {
    std::string field;  // Where: "origin.lat", "stops[2].lon"; empty for the whole.
    std::string why;    // "Must be a whole number."

    bool operator==(const DecodeProblem&) const = default;
};

// A value without a JSON form: NaN, infinity, a text that is not UTF-8, an enumeration's value
// without a name. This is a fault of the program that made the value.
class EncodeError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace pawl
