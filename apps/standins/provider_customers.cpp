#include "apps/standins/provider_bank.hpp"

#include <boost/json/serialize.hpp>

#include <utility>

namespace rides {

namespace json = boost::json;

// jane@example.com is cus_jane: a test selects a fault by the rider's address (provider.hpp). Every
// other customer also has a number.
std::string Bank::customer_id(const std::string& email) {
    constexpr std::size_t name_max = 20;
    const auto name = email.substr(0, email.find('@'));
    std::string id = "cus_";
    for (const char c : name.substr(0, name_max)) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain) id += c;
    }
    const bool whole = id.size() == name.size() + 4;
    if (whole && email.substr(name.size()) == "@example.com" && !booked_.contains(id)) return id;
    return id + "_" + std::to_string(next_++);
}

Bank::Outcome Bank::customer(const BankRequest& request, pawl::TimePoint now) {
    const auto email = bank_field(request, "email");
    const auto source = bank_field(request, "source");
    if (source == "tok_chargeDeclined")  // Stripe's own token: the card is declined when attached.
        return remembered(
            {.status = 402,
             .type = "card_error",
             .code = "card_declined",
             .message = "Your card was declined."}
        );
    Booked booked{"customer", customer_id(email), {}, 0, {}};
    booked.body = json::serialize(json::object{
        {"id", booked.id},
        {"object", "customer"},
        {"created", bank_seconds(now)},
        {"default_source",
         source.empty() ? json::value{nullptr} : json::value{"card_" + booked.id}},
        {"email", email},
        {"livemode", false}});
    booked_[booked.id] = booked;
    Outcome outcome;
    outcome.answer.body = booked.body;
    outcome.booked = std::move(booked);
    return outcome;
}

}  // namespace rides
