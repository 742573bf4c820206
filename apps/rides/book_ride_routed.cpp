#include "apps/rides/book_ride_routed.hpp"

#include "apps/rides/crypto.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

namespace rides {

namespace {

constexpr std::string_view json_name = "json provider";
constexpr std::string_view text_name = "text provider";

// Declines after which another provider may accept: https://stripe.com/docs/declines/codes
constexpr std::array<std::string_view, 4> soft_declines{
    "issuer_not_available", "processing_error", "reenter_transaction", "try_again_later"};

bool is_soft(const Declined& declined) {
    return std::ranges::find(soft_declines, declined.decline_code.value_or("")) !=
           soft_declines.end();
}

pawl::RouterOptions router_of(const Stripe& stripe, const Charging& charging) {
    const auto share = [&](std::size_t nth) {
        return nth < charging.shares.size() ? charging.shares[nth] : 1.0;
    };
    pawl::RouterOptions options;
    // The target of Stripe is the same as in BookRide, whose rides in doubt are repeated there.
    options.providers.push_back(
        {.name = stripe.target(), .key_lifetime = 20h, .has_inquiry = false, .share = share(0)}
    );
    if (!charging.json_url.empty())
        options.providers.push_back(
            {.name = std::string{json_name},
             .account = charging.json_url,
             .key_digits = JsonProvider::key_digits,
             .remembers_refusals = false,
             .ask_after = charging.ask_after,
             .share = share(1)}
        );
    if (!charging.text_url.empty())
        options.providers.push_back(
            {.name = std::string{text_name},
             .account = charging.text_url,
             .again = Repeat::never,
             .has_inquiry = false,
             .share = share(2)}
        );
    return options;
}

// Of values that a restored database does not give anew.
PaymentOrder payment_for(const BookRide::RideCreated& at) {
    const auto request = at.reference.value_or("ride " + std::to_string(at.ride.value));
    return {sha256(at.customer + '\n' + request).substr(0, 32), at.amount, at.currency};
}

}  // namespace

BookRideRouted::Providers::Providers(
    Stripe& of_stripe, const Charging& charging, int connections_max
)
    : stripe{of_stripe},
      json{charging.json_url, connections_max},
      text{charging.text_url, connections_max},
      router{router_of(of_stripe, charging)} {}

Paid BookRideRouted::charge_somewhere(pawl::RoutedCall& call, const RideCreated& at) {
    if (call.provider().name == json_name) return providers_.json.pay(call, payment_for(at));
    if (call.provider().name == text_name) return providers_.text.pay(call, payment_for(at));
    return std::visit(
        []<class E>(const E& end) -> Paid {
            if constexpr (std::is_same_v<E, Declined>)
                if (is_soft(end)) return pawl::TryNext<Declined>{end};
            return end;
        },
        charge_card(call, at).value()
    );
}

pawl::Inquiry<Charge, Declined> BookRideRouted::inquire(
    pawl::InquiryCall& call, const RideCreated& at
) {
    return providers_.json.inquire(call, payment_for(at));
}

}  // namespace rides
