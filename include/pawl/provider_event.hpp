#pragma once

#include <string>

namespace pawl {

// What a provider reports by itself: a webhook whose signature was checked. docs/howto/webhooks.md
//
// An event may settle a call in doubt if the call's operation declares how, in a member function of
// the point that the call starts from:
//
//   std::optional<Charge> settled_by(const RideCreated& at, const ProviderEvent& event) const;
//
// It returns one of the call's results if the event proves that this call has happened and ended
// so: compare what the call has sent. nullopt: it proves nothing. No event proves that a call did
// not happen. The function runs in a transaction: it must be quick and must not block.
struct ProviderEvent {
    std::string provider{};  // "stripe"; with `id`, the one who settled, in the audit.
    std::string id{};        // "evt_1"
    std::string type{};      // "charge.succeeded"
    std::string object{};    // As JSON: what the event is about.
    // The key of the call that caused it, as the provider got it: 32 to 64 characters of ours. Keys
    // of two calls differ, so this is how a call is found if the provider says it.
    std::string call_key{};
    // Otherwise the client's key (Started::key), which the call sent along. A call that follows one
    // which was declared as not made has the same reference, and is not found by it.
    std::string reference{};
    // As the operation's call_target() names the provider and our account; empty: any.
    std::string target{};
};

}  // namespace pawl
