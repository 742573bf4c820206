#pragma once

#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/rides/rides.hpp"
#include "apps/rides/stripe.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What the operations on trips share: BookTrip and PickUpTrip.
namespace rides {

// Precedes the client's key in the description of a trip's charges, as charge_description does.
inline constexpr std::string_view trip_description = "Rocket trip, request ";

struct TripId {
    std::int64_t value{};
};

// A trip as its rider sees it: a row of find_trip.
struct Trip {
    TripId id{};
    std::string created_at;
    double origin_lat{};
    double origin_lon{};
    double target_lat{};
    double target_lon{};
    std::string state;
    std::int64_t share{};  // Charged at the booking. Minor units: cents.
    std::int64_t rest{};   // Authorised at the booking, paid at the pick-up.
    std::string currency;
    std::optional<std::string> share_charge_id;
    std::optional<std::string> hold_id;
    std::optional<std::string> rest_charge_id;
};

/// GET /trips/{id}: one of the rider's trips.
class ShowTrip {
public:
    static constexpr std::string_view name = "show_trip";
    struct Request {
        TripId id{};
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

// Voids or refunds a charge after an operator has given its request up: a request that is given up
// ends at once, and has no step left to do it.
struct PayBack {
    static constexpr std::string_view kind = "pay_back";
    std::string charge;
};

class PayBackWorker {
public:
    explicit PayBackWorker(Stripe& stripe) : stripe_{stripe} {}
    pawl::JobResult work(pawl::Call& call, const pawl::Job<PayBack>& job);

private:
    Stripe& stripe_;
};

}  // namespace rides
