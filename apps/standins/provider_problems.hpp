#pragma once

#include <chrono>
#include <string>
#include <string_view>

// The answers of the stand-in for Stripe that refuse a request.
namespace rides {

struct BankAnswer {
    int status{200};
    std::string body;
    std::string key;
    bool replayed{};
    std::string original{};  // For a replay: the Request-Id of the first.
    std::chrono::milliseconds delay{0};
    bool never{};  // Never answered.
    // If the request booked a charge or a refund: the charge, and what happened to it.
    std::string charge{};
    std::string_view event{};
};

// An error in Stripe's form (its API reference, "Errors"); empty members are left out.
struct StripeProblem {
    int status{};
    std::string_view type;
    std::string_view code{};
    std::string_view message;
    std::string_view param{};                          // The wrong parameter of the request.
    std::string_view charge{};                         // card_error: the charge that failed.
    std::string_view decline_code{"generic_decline"};  // Of code card_declined.
};
BankAnswer stripe_error(const StripeProblem& problem);

inline constexpr std::string_view wrong_request = "invalid_request_error";
BankAnswer missing_parameter(std::string_view param);
BankAnswer no_whole_number(std::string_view param, const std::string& value);
BankAnswer no_such(std::string_view kind, std::string_view id, std::string_view param);
BankAnswer no_such_url(std::string_view method, const std::string& path);
BankAnswer broken();
}  // namespace rides
