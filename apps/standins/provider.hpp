#pragma once

#include "apps/standins/losses.hpp"
#include "apps/standins/provider_events.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rides {

struct ProviderOptions {
    std::string listen{"127.0.0.1:12111"};
    std::string smtp{"127.0.0.1:12525"};
    std::string ledger{"provider.ledger"};
    std::string mails{"provider.mails"};
    bool ledger_sync{true};  // false: for benchmarks, whose disk belongs to the server.
    std::uint64_t first_id{
        1};  // For benchmarks: an empty ledger beside a database that has charges.
    std::chrono::milliseconds delay{0};  // Delay of each answer, after the charge is booked.
    bool down{false};                    // Answers 503 to all; books no charge.
    bool decline{false};                 // Declines every card.
    std::chrono::seconds forget_keys_after{86'400};  // As Stripe does.
    Losses losses{};                                 // Of charges.
    EventOptions events{};                           // Where webhooks go, and who signs them.
    std::string event_faults{};                      // See EventFaults: "early twice shuffled".
    std::optional<std::string> problem() const;
};

// A stand-in for Stripe: /v1/customers, /v1/charges (also as a list, and with capture=false),
// /v1/charges/{id}/capture and /v1/refunds with its forms, errors and idempotency rules, a ledger
// of its own, and faults on demand; it also receives the mails. A separate process, so that it
// survives the server's death.
//
// The first customer of declined@example.com is cus_declined. Any customer can be charged, also one
// that was not made here. Faults by the customer's name: cus_declined*, cus_slow* (300 ms after
// booking), cus_timeout* (booked, never answered), cus_once* (booked, the first answer never comes,
// the repeat is answered), cus_500* (answers 500 and remembers it), cus_charged500* (the same, and
// booked), cus_503once* (the first time 503, nothing booked), cus_503* (always), cus_429once*,
// cus_429* (always), cus_forgets* (its keys are forgotten at once: a repeat books again), cus_late*
// (booked 500 ms late), cus_holdonly* (a charge is declined, an authorisation is not).
//
// With a URL for webhooks it sends charge.succeeded and charge.refunded, at least once each.
//
// For tests on the same port: POST /_test/faults (JSON: down, decline, delay_ms, webhooks, and
// hold_lifetime_ms: after it an authorisation has expired, as by default after 7 days), GET
// /_test/ledger.
class Provider {
public:
    explicit Provider(ProviderOptions options);  // Throws std::system_error, std::runtime_error.
    ~Provider();
    void start();
    std::uint16_t http_port() const;
    std::uint16_t smtp_port() const;
    void stop();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rides
