#pragma once

#include "apps/rides/stripe_events.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace rides {

// What another account's event, or one of the other mode, is told apart by.
struct StripeIdentity {
    std::optional<bool> livemode{};  // As the API key says. nullopt: it does not say it.
    std::string account{};           // "acct_1", which events of a platform name; may be empty.
};
StripeIdentity identity_of(std::string_view api_key, std::string account);

// It changes nothing here: of another type, of another account, of a charge that did not succeed.
struct IgnoredEvent {
    std::string id{};
    std::string why{};  // Empty: of a type that is not handled.
};
struct RefusedEvent {
    std::string_view why;
};
using ReadEvent = std::variant<StripeEvent, IgnoredEvent, RefusedEvent>;

// An event in each form that Stripe's API versions give it. docs/howto/foreign_formats.md lists the
// members.
ReadEvent read_event(std::string_view body, const StripeIdentity& ours);

}  // namespace rides
