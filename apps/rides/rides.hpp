#pragma once

#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Types that the operations of Rocket Rides share.
namespace rides {

struct RideId {
    std::int64_t value{};
};

struct User {
    std::int64_t id{};
    std::optional<std::string> stripe_customer_id;  // nullopt: Stripe does not know the rider yet.
};

inline constexpr std::optional<std::string_view> no_customer{};  // Of a new user.

// A ride as its rider sees it: a row of find_ride and list_rides, and the JSON of the answers.
struct Ride {
    RideId id{};
    std::string created_at;
    double origin_lat{};
    double origin_lon{};
    double target_lat{};
    double target_lon{};
    std::string state;      // As stored; "on_hold": an operator holds the booking.
    std::int64_t amount{};  // Minor units: cents.
    std::string currency;
    std::optional<std::string> stripe_charge_id;
    std::optional<std::string> stripe_refund_id;  // The refund after which all is refunded.
    std::int64_t amount_refunded{};
};

// The body of an operation's own error: application/problem+json, like the server's errors.
pawl::Response problem(int status, std::string title, std::string detail);
// A temporary error: the same request may succeed in a second. Never stored.
pawl::Response passing_problem(int status, std::string title, std::string detail);

// An audit entry in the same transaction: who did what to which object, from where.
struct Audit {
    std::string action;
    std::int64_t resource_id{};
    std::string resource_type;
    std::string data{"{}"};  // JSON.
};
void record(pawl::Tx& tx, const Audit& audit, std::int64_t user, const std::string& origin);

User user_of(pawl::Tx& tx, const pawl::Principal& principal);

}  // namespace rides
