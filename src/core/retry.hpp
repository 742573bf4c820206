#pragma once

#include <pawl/call.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <variant>

// When a client that calls another server tries again, and when it stops: design.md part 9.
namespace pawl::core {

// How the wait before a repeat grows. `first` is the wait before the first repeat, `longest` the
// cap.
enum class Jitter {
    decorrelated,  // From `first` to three times the wait before: never collapses, and clients
                   // drift apart (AWS).
    full,          // From `shortest` to the doubled wait: the widest spread.
    stripe  // Stripe's clients: half to all of the doubled wait. Theirs has no jitter on the first;
            // this has.
};

struct RetryRule {
    Jitter jitter{Jitter::decorrelated};
    std::chrono::milliseconds first{500};
    std::chrono::milliseconds longest{std::chrono::seconds{20}};
    std::chrono::milliseconds shortest{
        100};  // Full jitter near zero hammers a server that throttles (aws-sdk-net#4341).
    // In all, the first one too (SRE book: 3). Those that cost nothing do not count: see TryAgain.
    int tries_max{3};
    std::chrono::milliseconds deadline{
        std::chrono::seconds{60}};  // Of all tries and waits together.
    std::chrono::milliseconds retry_after_max{
        std::chrono::seconds{30}};  // A server that asks for an hour gets this.
    bool repeats{true};             // False: one try, whatever it comes to.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// How one try ended.
struct TryEnd {
    enum class Kind {
        not_sent,  // Proof that no byte of the request left.
        lost,      // Some left, and no whole answer came.
        answered
    };
    Kind kind{};
    int status{};                                            // From here on of an answer.
    std::optional<std::chrono::milliseconds> retry_after{};  // Of its Retry-After, from now.
    std::optional<bool> told{};  // The server's own word, whether a repeat can help.
    bool replayed{};             // Idempotent-Replayed: stored, it will never be another.
    bool hopeless{};             // Of one that was not sent: no repeat will be either.
};

struct TryFacts {
    Repeat again{};
    int tries{};                         // Ended, this one too.
    std::chrono::milliseconds spent{};   // Since the first began.
    std::chrono::milliseconds waited{};  // Before this try; zero for the first.
    bool doubt{};                        // What the tries before have left.
    int free{};                          // Of the tries before, those that cost nothing.
};

struct TryAgain {
    std::chrono::milliseconds wait{};
    bool doubt{};
    // It costs no try: nothing was sent, or the server says that it is at work on an earlier one.
    bool free{};
};
// The answer of this try is the end. `doubt`: an earlier try may have been carried out, and this
// answer does not tell, as with a 401 after a lost one.
struct TakeAnswer {
    bool doubt{};
};
struct GiveUp {
    enum class Why { tries, deadline, not_repeatable, not_sendable };
    Why why{};
    bool doubt{};
};
using AfterTry = std::variant<TryAgain, TakeAnswer, GiveUp>;

// dice in [0, 1).
AfterTry decide_after_try(
    const RetryRule& rule, const TryFacts& facts, const TryEnd& end, double dice
) noexcept;

// Before repeat number `repeat` (1, 2, ...) when the wait before that was `before` (zero if there
// was none).
std::chrono::milliseconds wait_before(
    const RetryRule& rule, int repeat, std::chrono::milliseconds before, double dice
) noexcept;

}  // namespace pawl::core
