#pragma once

#include "src/client/retry_machine.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace pawl::client {

// A Client with its ways to send and to wait given, for tests and simulated networks. Thread-safe;
// perform() blocks.
class Retrying {
public:
    using Send = std::function<http::Sent(http::OutgoingRequest, std::stop_token)>;
    using Wait =
        // Returns early if stopped.
        std::function<void(std::chrono::milliseconds, const std::stop_token&)>;
    struct Parts {
        Send send;
        base::Clock& clock;  // Clock and random outlive it.
        base::Random& random;
        Wait wait;
    };
    static Parts over(http::Transfers& transfers, base::Clock& clock, base::Random& random);

    struct Limits {
        core::RetryRule retry{};
        core::BudgetRule budget{};
        core::BreakerRule breaker{};
        std::function<void(const ClientTry&)> on_try{};
    };
    // Throws std::invalid_argument for an invalid rule.
    Retrying(Parts parts, Limits limits);

    // Each try has the request's time-outs; the last one ends at the deadline.
    ClientResult perform(
        const http::OutgoingRequest& request, Repeat again, const std::stop_token& stop = {}
    ) const;
    // One try, whatever its result. Fails at once while the server's breaker is open.
    ClientResult try_once(const http::OutgoingRequest& request, const std::stop_token& stop = {})
        const;

    // For callers that send and wait themselves; this object outlives the machine.
    RetryMachine machine_of(const http::OutgoingRequest& request, Repeat again) const;

private:
    ClientResult run(
        RetryMachine machine, const http::OutgoingRequest& request, const std::stop_token& stop
    ) const;

    Parts parts_;
    std::unique_ptr<Servers> servers_;
    Rules rules_;
    Rules one_try_;
};

// The request with the time-out of `send`.
http::OutgoingRequest with_timeout(
    const http::OutgoingRequest& request, const RetryMachine::Send& send
);

}  // namespace pawl::client
