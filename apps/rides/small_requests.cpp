#include "apps/rides/small_requests.hpp"

#include <pawl/key_progress.hpp>

#include "apps/rides/book_ride.hpp"
#include "rides/statements.hpp"

#include <algorithm>

namespace rides {

namespace {

struct State {
    RideId ride{};
    std::string state;
};
// A cancelled ride that was paid for: cancelling moves no money, a refund is a request of its own.
struct CancelledPaid {
    RideId ride{};
    std::string state;
    bool refunded{};
    std::string refund;  // How to get the money back.
};
struct UserMade {
    std::string email;
    bool made{};
};

std::string_view word_of(const pawl::KeyProgress& progress) {
    using pawl::KeyProgress;
    switch (progress.state) {
        case KeyProgress::State::needs_attention:
            return "needs_attention";
        case KeyProgress::State::finished:
            return "finished";
        case KeyProgress::State::expired:
            return "expired";
        case KeyProgress::State::open:
            break;
    }
    return progress.held ? "on_hold" : "open";
}

// The operation's own problem: see problem().
struct Told {
    std::string title;
    int status{};
    std::string detail;
    bool retry{};
};

pawl::Answer cancelled(const Ride& ride) {
    if (!ride.stripe_charge_id) return pawl::answer(200, State{ride.id, "cancelled"});
    const auto id = std::to_string(ride.id.value);
    return pawl::answer(
        200,
        CancelledPaid{
            ride.id,
            "cancelled",
            false,
            "The ride was paid for and is not refunded yet: POST /rides/" + id +
                "/refund with Idempotency-Key: ride-" + id + "-refund."}
    );
}

}  // namespace

pawl::Next<pawl::Refusal> CancelRide::cancel(pawl::Tx& tx, const Started& at) {
    const auto user = user_of(tx, at.principal);
    const auto ride = pawl::query_maybe<Ride>(tx, sql::find_ride, at.request.id, user.id);
    if (!ride) return pawl::refuse(problem(404, "There is no such ride", ""));
    if (ride->state == "cancelled") return cancelled(*ride);
    if (pawl::execute(tx, sql::cancel_ride, at.request.id, user.id) == 0)
        return pawl::refuse(
            problem(409, "The ride can't be cancelled", "Its state is " + ride->state + ".")
        );
    record(tx, {"cancelled", ride->id.value, "ride"}, user.id, at.origin);
    return cancelled(*ride);
}

std::optional<std::string> PutUser::Request::problem() const {
    const auto sign = email.find('@');
    const bool plain =
        std::all_of(email.begin(), email.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (email.size() > 255 || sign == 0 || sign == email.npos || sign + 1 == email.size() || !plain)
        return "email: Must be an address such as jane@example.com, at most 255 characters.";
    return std::nullopt;
}

pawl::Finish PutUser::put(pawl::Tx& tx, const Started& at) {
    const auto asker = user_of(tx, at.principal);
    const auto& email = at.request.email;
    const auto id = pawl::query_maybe<std::int64_t>(tx, sql::insert_user, email, no_customer);
    if (!id) return pawl::answer(200, UserMade{email, false});
    record(tx, {"created", *id, "user"}, asker.id, at.origin);
    return pawl::answer(201, UserMade{email, true});
}

pawl::Response ShowRide::answer(pawl::Snapshot& read, const pawl::Asked<Request>& at) {
    const auto user = pawl::query_maybe<User>(read, sql::find_user, at.principal.account);
    if (!user) return problem(404, "There is no such ride", "");
    const auto ride = pawl::query_maybe<Ride>(read, sql::find_ride, at.request.id, user->id);
    if (!ride) return problem(404, "There is no such ride", "");
    return pawl::respond(200, *ride);
}

std::optional<std::string> ListRides::Request::problem() const {
    if (limit && (*limit < 1 || *limit > 100)) return "limit: Must be from 1 to 100.";
    return std::nullopt;
}

pawl::Response ListRides::answer(pawl::Snapshot& read, const pawl::Asked<Request>& at) {
    const auto user = pawl::query_maybe<User>(read, sql::find_user, at.principal.account);
    if (!user) return pawl::respond(200, Rides{});
    return pawl::respond(
        200,
        Rides{pawl::query<Ride>(
            read, sql::list_rides, user->id, at.request.before, at.request.limit.value_or(20)
        )}
    );
}

pawl::Response ShowBooking::answer(pawl::Snapshot& read, const pawl::Asked<Request>& at) {
    Booking booking{.key = at.request.key, .state = "new"};
    const auto progress = pawl::find_key_progress(read, at.principal, booking.key);
    // A key of another operation is not a booking, even if it belongs to this rider.
    const bool expired = progress && progress->state == pawl::KeyProgress::State::expired;
    if (!progress || (!expired && progress->operation != BookRide::name))
        return pawl::respond(200, booking);
    booking.state = word_of(*progress);
    booking.status = progress->status;
    booking.location = progress->location;
    if (progress->answer && progress->answer->status >= 400) {
        if (auto why = pawl::from_json<Told>(progress->answer->body)) {
            booking.title = std::move(why->title);
            booking.detail = std::move(why->detail);
        }
    }
    if (const auto user = pawl::query_maybe<User>(read, sql::find_user, at.principal.account))
        booking.ride =
            pawl::query_maybe<Ride>(read, sql::find_ride_of_key, progress->key_id, user->id);
    return pawl::respond(200, booking);
}

}  // namespace rides
