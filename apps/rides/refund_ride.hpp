#pragma once

#include "apps/rides/rides.hpp"
#include "apps/rides/stripe.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rides {

/// POST /rides/{id}/refund pays a ride back: with an amount a part of it, under the key
/// `ride-{id}-refund-{n}`, where the caller chooses n; without one all that is left, under the key
/// `ride-{id}-refund`. Each key is one refund, even if the ride's rider and support (Riders) both
/// ask at the same moment: the second caller gets the first one's outcome instead of an "in
/// progress" error. All refunds of a ride together are never above its charge. For all other riders
/// the ride does not exist.
class RefundRide {
public:
    static constexpr std::string_view name = "refund_ride";
    static constexpr pawl::Settings settings{
        .scope = pawl::Scope::tenant,  // The key belongs to the ride.
        // The phase decides on the sum of the ride's refunds. At a weaker isolation two of them
        // would each see a sum without the other.
        .isolation = pawl::Isolation::serializable,
        .keep = pawl::for_ever,
        // Stripe takes a second; clients and proxies wait longer than this.
        .in_progress = pawl::wait(std::chrono::seconds{3})};
    explicit RefundRide(Stripe& stripe) : stripe_{stripe} {}

    struct Request {
        RideId id{};
        std::optional<std::int64_t> amount{};  // Minor units; nullopt: all that is left.
        std::optional<std::string> problem() const;
    };
    using Started = pawl::Started<Request>;
    struct RefundOrdered {
        static constexpr std::string_view name = "refund_ordered";
        RideId ride{};
        std::string charge;
        std::int64_t amount{};
        std::string currency;
        // The refund's row. Points of servers without the table have none, and no row.
        std::optional<std::string> key{};
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
