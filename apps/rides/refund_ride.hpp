#pragma once

#include "apps/rides/rides.hpp"
#include "apps/rides/stripe.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace rides {

/// POST /rides/{id}/refund, only with the key `ride-{id}-refund`: one refund per ride, even if its
/// rider and support (Riders) both ask at the same moment. The second caller gets the first one's
/// outcome instead of an "in progress" error. For all other riders the ride does not exist.
class RefundRide {
public:
    static constexpr std::string_view name = "refund_ride";
    static constexpr pawl::Settings settings{
        .scope = pawl::Scope::tenant,  // The key belongs to the ride.
        .keep = pawl::for_ever,
        // Stripe takes a second; clients and proxies wait longer than this.
        .in_progress = pawl::wait(std::chrono::seconds{3})};
    explicit RefundRide(Stripe& stripe) : stripe_{stripe} {}

    struct Request {
        RideId id{};
    };
    using Started = pawl::Started<Request>;
    struct RefundOrdered {
        static constexpr std::string_view name = "refund_ordered";
        RideId ride{};
        std::string charge;
        std::int64_t amount{};
        std::string currency;
    };

    std::optional<pawl::Response> before_key(
        pawl::Snapshot& read, const pawl::Asked<Request>& at, std::string_view key
    );
    pawl::Next<RefundOrdered, pawl::Refusal> order_refund(pawl::Tx& tx, const Started& at);
    pawl::Outcome<Refund, RefundRefused> refund_charge(
        pawl::KeyedCall& call, const RefundOrdered& at
    );
    pawl::Finish keep_refund(pawl::Tx& tx, const RefundOrdered& at, const Refund& refund);
    pawl::Finish keep_refusal(pawl::Tx& tx, const RefundOrdered& at, const RefundRefused& refused);
    // An operator gave the refund up. The money may have been paid back, if `why` says so.
    pawl::Finish abandon(pawl::Tx& tx, const RefundOrdered& at, const pawl::Abandoned& why);

    std::string call_target(const RefundOrdered&) const { return stripe_.target(); }

    using Flow = pawl::Steps<
        pawl::Atomic<&RefundRide::order_refund>,  // started        -> refund_ordered, or finished
                                                  // (404, 409)
        pawl::Foreign<
            pawl::Repeat::safe_with_key,
            &RefundRide::refund_charge,   // refund_ordered
            &RefundRide::keep_refund,     //                -> finished (201)
            &RefundRide::keep_refusal>>;  //                -> finished (409)

private:
    Stripe& stripe_;
};
static_assert(pawl::Operation<RefundRide>);

}  // namespace rides
