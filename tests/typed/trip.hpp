#pragma once

#include <pawl/json.hpp>
#include <pawl/operation.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Operations of every shape that must compile: steps in a base class template, two foreign calls in
// a row, a keeper with two targets, a call at the start, and points of nested values.
namespace trips {

enum class Class : std::uint8_t { tourist, first };
struct TripId {
    std::int64_t value{};
};
struct Place {
    double lat{};
    std::optional<std::string> name{};
};
struct Leg {
    Place from{};
    Place to{};
    std::vector<Class> classes{};
};
struct Seat {
    static constexpr std::string_view name = "SeatFound";
    int number{};
};
struct SoldOut {
    std::optional<std::string> why{};
};
struct Paid {
    std::string id;
    std::vector<std::int64_t> parts{};
};

template <class Vehicle>
class TripSteps {
public:
    struct Request {
        std::vector<Leg> legs{};
        std::optional<Class> wanted{};
        std::optional<std::string> problem{};  // The traveller's: a field like any other.
    };
    using Started = pawl::Started<Request>;
    struct Planned {
        static constexpr std::string_view name = "planned";
        TripId trip{};
        Request asked{};
    };
    struct Seated {
        static constexpr std::string_view name = "seated";
        Planned plan{};
        int seat{};
    };
    struct PaidInPart {
        static constexpr std::string_view name = "paid_in_part";
        Seated seated{};
        Paid paid{};
    };
    struct PaidInFull {
        static constexpr std::string_view name = "paid_in_full";
        std::optional<Paid> paid{};
    };

    pawl::Next<Planned> plan(pawl::Tx&, const Started& at) const {
        return Planned{{at.key_id}, at.request};
    }
    pawl::Outcome<Seat, SoldOut> find_seat(pawl::Call&, const Planned& at) const noexcept {
        if (at.asked.legs.size() > Vehicle::legs_max) return SoldOut{"too far"};
        return Seat{static_cast<int>(at.asked.legs.size())};
    }
    pawl::Next<Seated> keep_seat(pawl::Tx&, const Planned& at, const Seat& seat) {
        return Seated{at, seat.number};
    }
    pawl::Finish keep_sold_out(pawl::Tx&, const Planned&, const SoldOut& no) noexcept {
        return pawl::answer(409, no);
    }
    pawl::Outcome<Paid> pay(pawl::KeyedCall& call, const Seated& at) {
        if (at.seat == 0) return pawl::Stuck{"no seat"};
        return Paid{
            std::string{call.key().first(4)},
            std::vector<std::int64_t>(static_cast<std::size_t>(at.seat), 100)};
    }
    pawl::Next<PaidInPart, PaidInFull> keep_paid(pawl::Tx&, const Seated& at, const Paid& paid) {
        if (at.plan.asked.wanted == Class::first) return PaidInPart{at, paid};
        return PaidInFull{paid};
    }
    pawl::Next<PaidInFull> ask_for_the_rest(pawl::Tx&, const PaidInPart& at) {
        return PaidInFull{at.paid};
    }
    pawl::Finish finish(pawl::Tx&, const PaidInFull& at) { return pawl::answer(201, at); }
    pawl::Finish abandon(pawl::Tx&, const Planned& at, const pawl::Abandoned&) {
        return pawl::answer(410, at.trip);
    }
};

struct Rocket {
    static constexpr std::size_t legs_max = 2;
};

class RocketTrip : public TripSteps<Rocket> {
public:
    static constexpr std::string_view name = "rocket_trip";
    static constexpr pawl::Settings settings{
        .scope = pawl::Scope::tenant,
        .keep = pawl::for_ever,
        .in_progress = pawl::wait(std::chrono::seconds{3}),
        .provider_key_lifetime = std::chrono::hours{5}};
    using Flow = pawl::Steps<
        pawl::Atomic<&RocketTrip::plan>,
        pawl::Foreign<
            pawl::Repeat::safe,
            &RocketTrip::find_seat,
            &RocketTrip::keep_seat,
            &RocketTrip::keep_sold_out>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &RocketTrip::pay, &RocketTrip::keep_paid>,
        pawl::Atomic<&RocketTrip::ask_for_the_rest>,
        pawl::Atomic<&RocketTrip::finish>>;
    using RenamedPoints =
        pawl::RenamedPoints<pawl::Renamed<"charged", PaidInFull>, pawl::Removed<"waiting">>;
};
static_assert(pawl::Operation<RocketTrip>);

// A template whose first step is a foreign call.
template <pawl::Repeat Again>
class AskPrice {
public:
    static constexpr std::string_view name = "ask_price";
    struct Request {
        int legs{};
        std::optional<std::string> problem() const {
            return legs < 0 ? std::optional<std::string>{"legs: Must be 0 or more."} : std::nullopt;
        }
    };
    using Started = pawl::Started<Request>;
    pawl::Outcome<Paid> ask(pawl::Call&, const Started& at) {
        if (at.request.legs == 0) return pawl::Retry{"closed"};
        if (at.request.legs == 1) return pawl::InDoubt{"cut off"};
        return Paid{at.principal.account, {}};
    }
    pawl::Finish keep(pawl::Tx&, const Started&, const Paid& paid) {
        return pawl::answer(200, paid);
    }
    using Flow = pawl::Steps<pawl::Foreign<Again, &AskPrice::ask, &AskPrice::keep>>;
};
static_assert(pawl::Operation<AskPrice<pawl::Repeat::never>>);

}  // namespace trips
