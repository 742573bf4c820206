#pragma once

#include "apps/rides/rides.hpp"

#include <optional>
#include <string>
#include <string_view>

// The requests of one transaction or one look: no foreign call, so no recovery points.
namespace rides {

/// DELETE /rides/{id}: cancels a ride of one's own. Natural key: a repeat finds it cancelled. It
/// moves no money: of a ride that was paid for the answer says so, and how to have it refunded.
class CancelRide {
public:
    static constexpr std::string_view name = "cancel_ride";
    static constexpr auto key = pawl::KeyRule::none;
    struct Request {
        RideId id{};
    };
    using Started = pawl::Started<Request>;
    pawl::Finish cancel(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&CancelRide::cancel>>;
};
static_assert(pawl::Operation<CancelRide>);

/// PUT /users/{email}: 201 the first time, 200 after; one audit row.
class PutUser {
public:
    static constexpr std::string_view name = "put_user";
    static constexpr auto key = pawl::KeyRule::none;
    struct Request {
        std::string email;
        std::optional<std::string> problem() const;
    };
    using Started = pawl::Started<Request>;
    pawl::Finish put(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&PutUser::put>>;
};
static_assert(pawl::Operation<PutUser>);

/// GET /rides/{id}: a ride of one's own.
class ShowRide {
public:
    static constexpr std::string_view name = "show_ride";
    struct Request {
        RideId id{};
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

/// GET /rides?before=7&limit=20: one's own rides, the newest first.
class ListRides {
public:
    static constexpr std::string_view name = "list_rides";
    struct Request {
        std::optional<std::int64_t> before;
        std::optional<int> limit;
        std::optional<std::string> problem() const;
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

/// GET /bookings/{key}: what became of the booking that one sent under this key.
class ShowBooking {
public:
    static constexpr std::string_view name = "show_booking";
    struct Request {
        std::string key;
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

// Its answer.
struct Booking {
    std::string key;
    std::string state;            // "new", "open", "needs_attention", "finished" or "expired".
    std::optional<int> status{};  // finished and expired: of the answer.
    std::optional<std::string> location{};  // Of the ride that it made.
    std::optional<std::string> title{};     // finished without a ride: why.
    std::optional<std::string> detail{};
    std::optional<Ride> ride{};  // Once its first step is done.
};

// The answer of ListRides.
struct Rides {
    std::vector<Ride> rides;
};

/// The Stripe customer of a new user: cus_ and what stands before the @.
std::string customer_of(const std::string& email);

}  // namespace rides
