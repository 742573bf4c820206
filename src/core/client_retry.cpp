#include "src/core/client_retry.hpp"

#include "src/core/backoff.hpp"
#include "src/core/call_rule.hpp"

#include <algorithm>
#include <array>

namespace pawl::core {

namespace {

using std::chrono::milliseconds;

milliseconds between(milliseconds from, milliseconds to, double dice) {
    return from + scaled(std::max(to - from, milliseconds{0}), dice);
}

// Refused by a part in front of the application: this shows nothing about an earlier try.
bool is_front_end_refusal(int status) {
    constexpr std::array refusals{401, 403, 404, 405, 407, 408, 409, 410, 421, 425, 429};
    return status >= 500 || std::ranges::find(refusals, status) != refusals.end();
}

// Whether the request may have been carried out without our knowing.
bool may_have_effect(const TryFacts& facts, const TryEnd& end) {
    switch (end.kind) {
        case TryEnd::Kind::not_sent:
            return facts.doubt;
        case TryEnd::Kind::lost:
            return true;
        case TryEnd::Kind::answered:
            break;
    }
    if (end.replayed) return false;  // The stored response of this very request.
    // A failing server, or one working on an earlier try, may have done it; 501 and 505 refuse.
    const bool failing =
        (end.status >= 500 && end.status != 501 && end.status != 505) || end.status == 408;
    if (failing || (end.status == 409 && facts.again == Repeat::safe_with_key)) return true;
    // "Try again" means that the same bytes may end otherwise, so an earlier try may have. A
    // redirect was not processed, a precondition may fail because of the earlier try, and without a
    // key no server is bound to refuse what it has done.
    const bool may_end_otherwise = end.server_hint.value_or(false) ||
                                   is_front_end_refusal(end.status) ||
                                   (end.status >= 300 && end.status < 400) || end.status == 412 ||
                                   (end.status >= 400 && facts.again != Repeat::safe_with_key);
    return facts.doubt && may_end_otherwise;
}

// Whether a repeat of the same bytes could end otherwise.
bool repeat_could_help(const TryFacts& facts, const TryEnd& end) {
    if (end.kind != TryEnd::Kind::answered) return true;
    if (end.replayed || end.status < 400) return false;
    switch (end.status) {
        case 429:
            return end.server_hint.value_or(true);
        // Probably in progress under our key: the application's own 409 would be replayed.
        case 409:
            return facts.again == Repeat::safe_with_key && end.server_hint.value_or(true);
        case 408:
        case 425:
        case 500:
        case 502:
        case 503:
        case 504:
            return end.server_hint.value_or(true);
        default:
            return end.server_hint.value_or(false);
    }
}

// Whether the try has cost the server practically nothing.
bool is_free(const TryFacts& facts, const TryEnd& end) {
    if (end.kind == TryEnd::Kind::not_sent) return true;
    return end.kind == TryEnd::Kind::answered && end.status == 409 &&
           facts.again == Repeat::safe_with_key;
}

// The same rule as for an operation's steps. 429 counts as proof: it was refused before anything
// was done (RFC 6585, 4). A 503 does not: a proxy's 503 does not show what the server got.
bool may_repeat(const TryFacts& facts, const TryEnd& end) {
    const bool certainly_not_done = end.kind == TryEnd::Kind::not_sent ||
                                    (end.kind == TryEnd::Kind::answered && end.status == 429);
    const auto after = decide_after_call(
        facts.again,
        certainly_not_done ? CallEnded::retry : CallEnded::in_doubt,
        facts.doubt ? EarlierCall::perhaps : EarlierCall::none
    );
    return after != AfterCall::needs_person;
}

}  // namespace

milliseconds wait_before(
    const RetryRule& rule, int repeat, milliseconds before, double dice
) noexcept {
    switch (rule.jitter) {
        case Jitter::decorrelated:
            return std::min(
                rule.longest, between(rule.first, 3 * std::max(before, rule.first), dice)
            );
        case Jitter::full:
            return between(
                rule.shortest, exponential_backoff(rule.first, rule.longest, repeat - 1), dice
            );
        case Jitter::stripe:
            break;
    }
    const auto whole = exponential_backoff(rule.first, rule.longest, repeat);
    return between(std::max(whole / 2, std::min(rule.first, rule.longest)), whole, dice);
}

AfterTry decide_after_try(
    const RetryRule& rule, const TryFacts& facts, const TryEnd& end, double dice
) noexcept {
    const bool answered = end.kind == TryEnd::Kind::answered;
    const bool doubt = may_have_effect(facts, end);
    if (end.hopeless && !answered) return GiveUp{GiveUp::Reason::not_sendable, doubt};
    if (!repeat_could_help(facts, end)) return TakeAnswer{doubt};
    auto no_more = [&](GiveUp::Reason why) -> AfterTry {
        if (answered) return TakeAnswer{doubt};
        return GiveUp{why, doubt};
    };
    if (!rule.repeats) return no_more(GiveUp::Reason::tries);
    if (!may_repeat(facts, end)) return no_more(GiveUp::Reason::not_repeatable);
    const bool free = is_free(facts, end);
    const int counted = facts.tries - facts.free;  // Including this one.
    // A free try is followed by one that counts, which must still be allowed.
    if (counted - (free ? 1 : 0) >= rule.tries_max) return no_more(GiveUp::Reason::tries);
    auto wait = wait_before(rule, facts.tries, facts.waited, dice);
    if (end.retry_after) {
        // Never early, and spread, as many clients may have been told the same second.
        const auto asked = std::clamp(*end.retry_after, milliseconds{0}, rule.retry_after_max);
        wait = std::max(wait, asked + scaled(rule.first, dice));
    }
    if (facts.spent + wait >= rule.deadline) return no_more(GiveUp::Reason::deadline);
    return TryAgain{wait, doubt, free};
}

std::optional<std::string> RetryRule::problem() const {
    auto ms = [](milliseconds m) { return std::to_string(m.count()) + " ms"; };
    if (tries_max < 1) return "tries_max is " + std::to_string(tries_max) + ": at least 1";
    if (first.count() < 1) return "first is " + ms(first) + ": at least 1 ms";
    if (longest < first) return "longest is " + ms(longest) + ": at least first, " + ms(first);
    if (shortest.count() < 0 || shortest > first)
        return "shortest is " + ms(shortest) + ": from 0 ms to first, " + ms(first);
    if (deadline.count() < 1) return "deadline is " + ms(deadline) + ": at least 1 ms";
    if (retry_after_max.count() < 0)
        return "retry_after_max is " + ms(retry_after_max) + ": at least 0 ms";
    return std::nullopt;
}

}  // namespace pawl::core
