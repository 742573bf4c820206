#pragma once

#include <string>
#include <variant>
#include <vector>

// What the server really asks of its database for one ride: recorded from the engine itself, so that the floor can't
// drift from it.
namespace bench {

using Parameter = std::variant<std::monostate, std::int64_t, double, std::string>;

struct Statement {
    std::string name;
    std::string text;
    std::vector<Parameter> parameters;
};
using Transaction = std::vector<Statement>;

// The transactions of one ride, in their order. `folder` gets a database with the server's schema, `rides.db`, with no
// row of a ride in it. The charge is made at `stripe_url`.
std::vector<Transaction> record_ride(const std::string& folder, const std::string& stripe_url);

// What names one ride among the parameters: replaced by another ride's own in each repeat.
inline constexpr std::int64_t recorded_key_id = 1'000'001;
inline constexpr std::int64_t recorded_ride_id = 3'000'001;
inline constexpr const char* recorded_key = "recorded-key-0000000";

}  // namespace bench
