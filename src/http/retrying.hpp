#pragma once

#include "src/core/clock.hpp"
#include "src/core/retry.hpp"
#include "src/http/transfer.hpp"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>

namespace pawl::http {

// The server's last word. `in_doubt`: an earlier try may have been carried out, and this answer
// does not tell.
struct Answered {
    Arrived answer;
    int tries{};
    bool in_doubt{};
    bool replayed{};  // Idempotent-Replayed: an earlier try was carried out, and this is its stored
                      // answer.
};
// No answer. Not in doubt means that nothing was done, with proof.
struct GaveUp {
    bool in_doubt{};
    int tries{};
    std::string why;  // For operators.
};
using Ended = std::variant<Answered, GaveUp>;

// Repeats a request while that is safe and may help: each time the same bytes, under the rule of
// src/core/retry.hpp. Thread-safe; perform() blocks.
class Retrying {
public:
    using Send = std::function<Sent(Outgoing, std::stop_token)>;
    using Wait =
        std::function<void(std::chrono::milliseconds, const std::stop_token&)>;  // Shorter if
                                                                                 // stopped.
    struct Parts {
        Send send;
        core::Clock& clock;  // These two outlive it.
        core::Random& random;
        Wait wait;
    };
    static Parts over(Transfers& transfers, core::Clock& clock, core::Random& random);

    // Throws std::invalid_argument for a rule with a problem.
    Retrying(Parts parts, core::RetryRule rule);

    // `again` says when a repeat is safe: safe_with_key if the request carries a key that this
    // server honours and that was saved before, so that it survives a crash of ours. Each try has
    // the request's time-outs, the last less if the deadline comes before.
    Ended perform(const Outgoing& request, Repeat again, const std::stop_token& stop = {}) const;

private:
    Parts parts_;
    core::RetryRule rule_;
};

}  // namespace pawl::http
