#pragma once

#include "src/client/course.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace pawl::client {

// What a Client is with its ways to send and to wait given: for tests, and for a network that loses
// what it is told to lose. Thread-safe; perform() blocks.
class Retrying {
public:
    using Send = std::function<http::Sent(http::Outgoing, std::stop_token)>;
    using Wait =
        std::function<void(std::chrono::milliseconds, const std::stop_token&)>;  // Shorter if
                                                                                 // stopped.
    struct Parts {
        Send send;
        base::Clock& clock;  // These two outlive it.
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
    // Throws std::invalid_argument for a rule with a problem.
    Retrying(Parts parts, Limits limits);

    // Each try has the request's time-outs, the last less if the deadline comes before.
    ClientEnd perform(const http::Outgoing& request, Repeat again, const std::stop_token& stop = {})
        const;

    // One request's course, for who sends and waits itself; this outlives it.
    Course course_of(const http::Outgoing& request, Repeat again) const;

private:
    Parts parts_;
    std::unique_ptr<Servers> servers_;
    Rules rules_;
};

// The request as a course says that it is to be sent.
http::Outgoing as_said(const http::Outgoing& request, const Course::Send& send);

}  // namespace pawl::client
