#pragma once

#include "apps/standins/losses.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rides {

struct SecondProviderOptions {
    std::string listen{"127.0.0.1:12112"};
    std::string ledger{"second.ledger"};
    bool ledger_sync{true};
    double pending{0.2};  // Share of the payments that are answered 202 and captured later.
    Losses losses{};
    std::optional<std::string> problem() const;
};

// Two payment providers whose interfaces differ from Stripe's. Their memory is empty at each start;
// the ledger keeps what was captured.
//
// JSON, keys of at most 32 characters, which a refused payment does not use up:
//   POST /payments {"reference", "amount", "currency"}, Idempotency-Key
//     201 {"payment": "pay_1", "state": "captured"}, or 202 with the state "pending"
//     422 {"reason": "SoftDecline" or "HardDecline", "detail": ...}
//   GET /payments/pay_1?wait_ms=500   waits so long for another state than "pending"
//   GET /payments?reference=R         {"payments": [...]}: a payment that is not listed 5 s after
//   its
//                                     request was sent is never captured
// Text, without keys, and nobody can ask:
//   POST /pay, a form with reference and amount: 200 "OK pay_2", 402 "SOFT ..." or "HARD ..."
//
// For tests: POST /_test/bad_line with a share as its body.
//
// A line of the ledger: {"id", "reference", "amount", "key", "api": "json" or "text"}.
class SecondProvider {
public:
    explicit SecondProvider(SecondProviderOptions options);
    ~SecondProvider();
    void start();
    std::uint16_t port() const;
    void stop();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rides
