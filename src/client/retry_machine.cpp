#include "src/client/retry_machine.hpp"

#include "src/client/retry_hints.hpp"
#include "src/core/backoff.hpp"

#include <algorithm>
#include <utility>

namespace pawl::client {

namespace {

using std::chrono::milliseconds;

std::string describe(const http::Sent& sent) {
    if (const auto* not_sent = std::get_if<http::NotSent>(&sent))
        return "not sent: " + not_sent->why;
    if (const auto* lost = std::get_if<http::Lost>(&sent)) return "lost: " + lost->why;
    return "answered " + std::to_string(std::get<http::IncomingResponse>(sent).status);
}

std::string text_of(core::GiveUp::Reason why) {
    switch (why) {
        case core::GiveUp::Reason::tries:
            return "no more tries are allowed";
        case core::GiveUp::Reason::deadline:
            return "the deadline came";
        case core::GiveUp::Reason::not_sendable:
            return "it can never be sent";
        case core::GiveUp::Reason::not_repeatable:
            break;
    }
    return "a repeat would not be safe";
}

// failing: the server or the network is not well. A server that refuses a request is well.
Servers::Said said_by(const core::TryEnd& end) {
    using Said = Servers::Said;
    if (end.kind != core::TryEnd::Kind::answered)
        return end.hopeless ? Said::nothing : Said::failing;
    const bool failing =
        end.status >= 500 && end.status != 501 && end.status != 505 && !end.replayed;
    return failing ? Said::failing : Said::well;
}

Answered answered(http::IncomingResponse answer, int tries, bool in_doubt, bool replayed) {
    return {
        .status = answer.status,
        .headers = std::move(answer.headers),
        .body = std::move(answer.body),
        .tries = tries,
        .in_doubt = in_doubt,
        .replayed = replayed};
}

}  // namespace

RetryMachine::RetryMachine(const Rules& rules, Repeat again, std::string server)
    : rules_{rules},
      server_{std::move(server)},
      began_{rules.clock.steady()},
      facts_{.again = again} {}

milliseconds RetryMachine::spent() const {
    return std::chrono::duration_cast<milliseconds>(rules_.clock.steady() - began_);
}

void RetryMachine::report(Servers::Said said) {
    const auto passed = std::exchange(passed_, std::nullopt);
    if (!passed) return;
    rules_.servers.ended(server_, said, *passed, rules_.clock.steady(), rules_.random.dice());
}

GaveUp RetryMachine::given_up(std::string why) {
    report(Servers::Said::nothing);
    return {facts_.doubt, facts_.tries, std::move(why)};
}

GaveUp RetryMachine::stopped(const http::Sent& sent) {
    ++facts_.tries;
    facts_.doubt = facts_.doubt || std::holds_alternative<http::Lost>(sent);
    tell(sent, std::nullopt);
    return given_up("it was stopped");
}

RetryMachine::Next RetryMachine::next() {
    const auto left = rules_.retry.deadline - spent();
    if (left.count() <= 0) return given_up("the deadline came");  // The wait took too long.
    try_began_ = rules_.clock.steady();
    const auto passed = rules_.servers.pass(server_, try_began_);
    if (const auto* pass = std::get_if<Servers::Pass>(&passed)) {
        passed_ = *pass;
        return Send{left};
    }
    const auto later = std::get<core::WaitForBreaker>(passed).wait;
    if (later >= left)
        return given_up(
            server_ +
            " has failed too often: its circuit breaker stays open until after the deadline"
        );
    // Spreads the tries over as long again, so that they do not come all at once, but leaves half
    // of the remaining time for a try.
    return Wait{later + core::scaled(std::min(later, (left - later) / 2), rules_.random.dice())};
}

RetryMachine::Next RetryMachine::after(http::Sent sent) {
    ++facts_.tries;
    facts_.spent = spent();
    const auto end = end_of(sent, rules_.clock.now());
    report(said_by(end));
    const auto after = core::decide_after_try(rules_.retry, facts_, end, rules_.random.dice());
    if (const auto* more = std::get_if<core::TryAgain>(&after)) return again(*more, sent);
    tell(sent, std::nullopt);
    if (const auto* take = std::get_if<core::TakeAnswer>(&after))
        return answered(
            std::get<http::IncomingResponse>(std::move(sent)),
            facts_.tries,
            take->doubt,
            end.replayed
        );
    const auto& over = std::get<core::GiveUp>(after);
    const auto why = rules_.retry.repeats ? text_of(over.why) + ": " : std::string{};
    return GaveUp{over.doubt, facts_.tries, why + describe(sent)};
}

RetryMachine::Next RetryMachine::again(const core::TryAgain& more, const http::Sent& sent) {
    auto wait = more.wait;
    if (!more.free) {
        const auto left = rules_.retry.deadline - spent();
        const auto token = rules_.servers.repeat(server_, rules_.clock.steady(), left);
        if (!token || *token >= left) {
            tell(sent, std::nullopt);
            return no_more("the budget of repeats to " + server_ + " is used up", sent, more.doubt);
        }
        wait = std::max(wait, *token);
    }
    facts_.doubt = more.doubt;
    facts_.waited = more.wait;
    if (more.free) ++facts_.free;
    tell(sent, wait);
    return Wait{wait};
}

// An answer is returned, even if a repeat might have improved it.
ClientResult RetryMachine::no_more(std::string why, http::Sent sent, bool doubt) const {
    if (auto* answer = std::get_if<http::IncomingResponse>(&sent))
        return answered(std::move(*answer), facts_.tries, doubt, false);
    return GaveUp{doubt, facts_.tries, std::move(why) + ": " + describe(sent)};
}

void RetryMachine::tell(const http::Sent& sent, std::optional<milliseconds> again_in) const {
    if (!rules_.on_try) return;
    const auto took = std::chrono::duration_cast<milliseconds>(rules_.clock.steady() - try_began_);
    rules_.on_try({facts_.tries, describe(sent), took, again_in});
}

}  // namespace pawl::client
