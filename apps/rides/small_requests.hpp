#pragma once

#include "apps/rides/rides.hpp"

#include <optional>
#include <string>
#include <string_view>

// Requests of one transaction or one query: no foreign call, so no recovery points.
namespace rides {

/// DELETE /rides/{id}: cancels one of the rider's rides. Natural key: a repeat finds it cancelled.
/// It moves no money: for a paid ride the answer says how to have it refunded.
class CancelRide {
public:
    static constexpr std::string_view name = "cancel_ride";
    static constexpr pawl::Settings settings{.key = pawl::KeyRule::none};
    struct Request {
        RideId id{};
    };
    using Started = pawl::Started<Request>;
    pawl::Next<pawl::Refusal> cancel(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&CancelRide::cancel>>;
};
static_assert(pawl::Operation<CancelRide>);

/// PUT /users/{email}: 201 the first time, 200 after; one audit row.
class PutUser {
public:
    static constexpr std::string_view name = "put_user";
    static constexpr pawl::Settings settings{.key = pawl::KeyRule::none};
    struct Request {
        std::string email;
        std::optional<std::string> problem() const;
    };
    using Started = pawl::Started<Request>;
    pawl::Finish put(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&PutUser::put>>;
};
static_assert(pawl::Operation<PutUser>);

/// GET /rides/{id}: one of the rider's rides.
class ShowRide {
public:
    static constexpr std::string_view name = "show_ride";
    struct Request {
        RideId id{};
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

/// GET /rides?before=7&limit=20: the rider's rides, newest first.
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

/// GET /bookings/{key}: the state of the booking that the rider sent with this key.
class ShowBooking {
public:
    static constexpr std::string_view name = "show_booking";
    struct Request {
        std::string key;
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

// The answer of ShowBooking.
struct Booking {
    std::string key;
    // "new", "open", "on_hold", "needs_attention", "finished" or "expired".
    std::string state;
    std::optional<int> status{};            // finished and expired: the answer's status.
    std::optional<std::string> location{};  // The ride that it made.
    std::optional<std::string> title{};     // finished without a ride: why.
    std::optional<std::string> detail{};
    std::optional<Ride> ride{};  // Set after the first step.
};

// The answer of ListRides.
struct Rides {
    std::vector<Ride> rides;
};

}  // namespace rides
