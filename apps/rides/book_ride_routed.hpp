#pragma once

#include "apps/rides/book_ride.hpp"
#include "apps/rides/other_providers.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace rides {

// Who may charge rides besides Stripe, and who gets which share of them.
struct Charging {
    std::string json_url;  // Empty: there is none, as below.
    std::string text_url;
    // Of Stripe, the JSON and the text provider; missing ones are 1. 0: only if the others can't.
    std::vector<double> shares;
    // How long the JSON provider may leave a charge unanswered before it is asked about it.
    std::chrono::seconds ask_after{10};
    bool several() const { return !json_url.empty() || !text_url.empty(); }
};

/// The same for several payment providers (docs/howto/money.md): a charge is made at one of them,
/// and at another only after proof that the first one did not make it.
class BookRideRouted : public BookRide {
public:
    struct Providers {
        Providers(Stripe& stripe, const Charging& charging, int connections_max);
        Stripe& stripe;
        JsonProvider json;
        TextProvider text;
        pawl::Router router;
    };
    BookRideRouted(Providers& providers, std::optional<std::string> source)
        : BookRide{providers.stripe, std::move(source)}, providers_{providers} {}

    pawl::Routing route(const RideCreated& at) const {
        return {providers_.router, {at.amount, at.currency}};
    }
    Paid charge_somewhere(pawl::RoutedCall& call, const RideCreated& at);
    pawl::Inquiry<Charge, Declined> inquire(pawl::InquiryCall& call, const RideCreated& at);

    using Flow = Steps<
        Atomic<&BookRideRouted::create_ride>,
        MakeCustomer,
        pawl::Routed<
            &BookRideRouted::route,
            &BookRideRouted::charge_somewhere,
            &BookRideRouted::inquire,
            &BookRideRouted::keep_charge,
            &BookRideRouted::refuse_ride>,
        Atomic<&BookRideRouted::finish_ride>>;

private:
    Providers& providers_;
};
static_assert(pawl::Operation<BookRideRouted>);

}  // namespace rides
