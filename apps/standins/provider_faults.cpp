#include "apps/standins/provider_bank.hpp"

#include <string_view>

// Faults that the customer's name selects: provider.hpp lists them.
namespace rides {

std::optional<Bank::Outcome> Bank::fault_before(std::string_view customer, int tries) {
    const auto is = [&](std::string_view name) { return customer.starts_with(name); };
    if (is("cus_503once") ? tries == 1 : is("cus_503"))
        return passing({.status = 503, .type = "api_error", .message = "Try again."});
    if (is("cus_429once") ? tries == 1 : is("cus_429"))
        return passing(
            {.status = 429,
             .type = wrong_request,
             .code = "rate_limit",
             .message = "Request rate limit exceeded."}
        );
    return std::nullopt;
}

void Bank::spoil(Outcome& booked, std::string_view customer, int tries) {
    const auto is = [&](std::string_view name) { return customer.starts_with(name); };
    if (is("cus_charged500")) booked.answer = broken();
    booked.remember = !is("cus_forgets");
    if (is("cus_slow")) booked.answer.delay = std::chrono::milliseconds{300};
    booked.answer.never = is("cus_timeout") || (is("cus_once") && tries == 1);
}

}  // namespace rides
