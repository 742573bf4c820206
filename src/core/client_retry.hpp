#pragma once

#include <pawl/call.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <variant>

// When a client of another server tries again, and when it stops: design.md part 9.
namespace pawl::core {

// How the wait before a repeat grows, from `first`, up to `longest`.
enum class Jitter {
    // From `first` to three times the previous wait: clients drift apart (AWS).
    decorrelated,
    full,  // From `shortest` to the doubled wait: the widest spread.
    // Half to all of the doubled wait, as in Stripe's clients. Theirs has no jitter on the first;
    // this has.
    stripe
};

struct RetryRule {
    Jitter jitter{Jitter::decorrelated};
    std::chrono::milliseconds first{500};
    std::chrono::milliseconds longest{std::chrono::seconds{20}};
    // Full jitter near zero overloads a throttling server (aws-sdk-net#4341).
    std::chrono::milliseconds shortest{100};
    // Including the first (SRE book: 3). Free tries do not count: see TryAgain.
    int tries_max{3};
    // For all tries and waits together.
    std::chrono::milliseconds deadline{std::chrono::seconds{60}};
    // Limits a server that asks for an hour.
    std::chrono::milliseconds retry_after_max{std::chrono::seconds{30}};
    bool repeats{true};  // False: one try, whatever the result.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// How one try ended.
struct TryEnd {
    enum class Kind {
        not_sent,  // It is proven that no byte of the request was sent.
        lost,      // Some bytes were sent, and no complete answer came.
        answered
    };
    Kind kind{};
    int status{};  // This and the next ones: of an answer.
    std::optional<std::chrono::milliseconds> retry_after{};  // From its Retry-After.
    std::optional<bool> server_hint{};  // The server's own hint whether a repeat can help.
    bool replayed{};  // Idempotent-Replayed: a stored answer, which never changes.
    bool hopeless{};  // Not sent, and no repeat can be sent either.
};

struct TryFacts {
    Repeat again{};
    int tries{};                         // Ended tries, including this one.
    std::chrono::milliseconds spent{};   // Since the first began.
    std::chrono::milliseconds waited{};  // Before this try; zero for the first.
    bool doubt{};                        // Whether an earlier try is in doubt.
    int free{};                          // Earlier tries that do not count.
};

struct TryAgain {
    std::chrono::milliseconds wait{};
    bool doubt{};
    // Does not count as a try: nothing was sent, or the server is still working on an earlier one.
    bool free{};
};
// This try's answer is final. `doubt`: an earlier try may have been carried out, and this answer
// does not show it, as a 401 after a lost answer.
struct TakeAnswer {
    bool doubt{};
};
struct GiveUp {
    enum class Reason { tries, deadline, not_repeatable, not_sendable };
    Reason why{};
    bool doubt{};
};
using AfterTry = std::variant<TryAgain, TakeAnswer, GiveUp>;

// dice in [0, 1).
AfterTry decide_after_try(
    const RetryRule& rule, const TryFacts& facts, const TryEnd& end, double dice
) noexcept;

// The wait before repeat number `repeat` (1, 2, ...); `before` is the previous wait, zero if none.
std::chrono::milliseconds wait_before(
    const RetryRule& rule, int repeat, std::chrono::milliseconds before, double dice
) noexcept;

}  // namespace pawl::core
