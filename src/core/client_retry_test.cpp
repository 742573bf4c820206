#include "src/core/client_retry.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core::client_retry_test {
namespace {

using namespace std::chrono_literals;
using Kind = TryEnd::Kind;

const RetryRule rule{};  // decorrelated, 500 ms to 20 s, 3 tries, 60 s

TryEnd answered(int status) {
    return {.kind = Kind::answered, .status = status};
}

std::string text_of(const AfterTry& after) {
    const auto doubtful = [](bool doubt) {
        return doubt ? std::string{", in doubt"} : std::string{};
    };
    if (const auto* again = std::get_if<TryAgain>(&after)) return "again" + doubtful(again->doubt);
    if (const auto* take = std::get_if<TakeAnswer>(&after)) return "take" + doubtful(take->doubt);
    const auto& given_up = std::get<GiveUp>(after);
    const std::string why = given_up.why == GiveUp::Reason::tries          ? "tries"
                            : given_up.why == GiveUp::Reason::deadline     ? "deadline"
                            : given_up.why == GiveUp::Reason::not_sendable ? "not sendable"
                                                                           : "not repeatable";
    return "give up: " + why + doubtful(given_up.doubt);
}

std::chrono::milliseconds wait_of(const AfterTry& after) {
    return std::get<TryAgain>(after).wait;
}

constexpr auto never = Repeat::never;
constexpr auto keyed = Repeat::safe_with_key;
constexpr auto safe = Repeat::safe;
struct Case {
    std::string name;
    TryFacts facts;
    TryEnd end;
    std::string after;
};
TryEnd told(int status, bool word) {
    return TryEnd{.kind = Kind::answered, .status = status, .server_hint = word};
}
const TryEnd replayed_500{.kind = Kind::answered, .status = 500, .replayed = true};
const TryEnd replayed_409{.kind = Kind::answered, .status = 409, .replayed = true};
const std::vector<Case> cases{
    {"not sent is repeated, even if never", {never, 1}, {Kind::not_sent}, "again"},
    {"not sent, keyed", {keyed, 1}, {Kind::not_sent}, "again"},
    {"not sent after a lost one is still in doubt",
     {.again = keyed, .tries = 2, .doubt = true},
     {Kind::not_sent},
     "again, in doubt"},
    {"not sent costs no try", {keyed, 3}, {Kind::not_sent}, "again"},
    {"not sent, behind all the tries there are", {keyed, 4}, {Kind::not_sent}, "give up: tries"},
    {"lost, behind some that were not sent",
     {.again = keyed, .tries = 4, .free = 2},
     {Kind::lost},
     "again, in doubt"},
    {"lost, the last that counts",
     {.again = keyed, .tries = 5, .free = 2},
     {Kind::lost},
     "give up: tries, in doubt"},
    {"what can never be sent",
     {keyed, 1},
     {.kind = Kind::not_sent, .hopeless = true},
     "give up: not sendable"},
    {"lost, never", {never, 1}, {Kind::lost}, "give up: not repeatable, in doubt"},
    {"lost, keyed", {keyed, 1}, {Kind::lost}, "again, in doubt"},
    {"lost, safe", {safe, 1}, {Kind::lost}, "again, in doubt"},
    {"lost, the last", {keyed, 3}, {Kind::lost}, "give up: tries, in doubt"},
    {"lost, more tries than allowed", {keyed, 7}, {Kind::lost}, "give up: tries, in doubt"},
    {"done", {keyed, 1}, answered(201), "take"},
    {"done after a lost one", {.again = keyed, .tries = 2, .doubt = true}, answered(201), "take"},
    {"declined after a lost one",
     {.again = keyed, .tries = 2, .doubt = true},
     answered(402),
     "take"},
    {"401 after a lost one",
     {.again = keyed, .tries = 2, .doubt = true},
     answered(401),
     "take, in doubt"},
    {"410 after a lost one",
     {.again = keyed, .tries = 2, .doubt = true},
     answered(410),
     "take, in doubt"},
    {"redirected after a lost one",
     {.again = keyed, .tries = 2, .doubt = true},
     answered(307),
     "take, in doubt"},
    {"its precondition fails after a lost one",
     {.again = safe, .tries = 2, .doubt = true},
     answered(412),
     "take, in doubt"},
    {"refused without a key after a lost one",
     {.again = safe, .tries = 2, .doubt = true},
     answered(400),
     "take, in doubt"},
    {"done without a key after a lost one",
     {.again = safe, .tries = 2, .doubt = true},
     answered(204),
     "take"},
    {"mismatch is never repeated", {keyed, 1}, answered(422), "take"},
    {"400 is never repeated", {keyed, 1}, answered(400), "take"},
    {"in progress, keyed", {keyed, 1}, answered(409), "again, in doubt"},
    {"in progress costs no try", {keyed, 3}, answered(409), "again, in doubt"},
    {"in progress, behind all the tries there are", {keyed, 4}, answered(409), "take, in doubt"},
    {"a conflict without a key", {safe, 1}, answered(409), "take"},
    {"a conflict of a call that is never repeated", {never, 1}, answered(409), "take"},
    {"a conflict that is stored", {keyed, 1}, replayed_409, "take"},
    {"a conflict that the server calls final", {keyed, 1}, told(409, false), "take, in doubt"},
    {"throttled, keyed", {keyed, 1}, answered(429), "again"},
    {"throttled: refused before it was done, so even never", {never, 1}, answered(429), "again"},
    {"throttled, and the server says no", {keyed, 1}, told(429, false), "take"},
    {"503, keyed", {keyed, 1}, answered(503), "again, in doubt"},
    {"503 may come from a proxy", {never, 1}, answered(503), "take, in doubt"},
    {"500, safe", {safe, 1}, answered(500), "again, in doubt"},
    {"500 that is stored", {keyed, 1}, replayed_500, "take"},
    {"502, never", {never, 1}, answered(502), "take, in doubt"},
    {"501 is a refusal", {keyed, 1}, answered(501), "take"},
    {"408, keyed", {keyed, 1}, answered(408), "again, in doubt"},
    {"the server's word makes another status repeatable", {keyed, 1}, told(400, true), "again"},
    {"but not a call that is never repeated", {never, 1}, told(400, true), "take"},
    {"deadline",
     {.again = keyed, .tries = 1, .spent = 59'900ms},
     {Kind::not_sent},
     "give up: deadline"},
    {"deadline, lost",
     {.again = keyed, .tries = 1, .spent = 59'900ms},
     {Kind::lost},
     "give up: deadline, in doubt"},
    {"deadline with an answer",
     {.again = keyed, .tries = 1, .spent = 2min},
     answered(503),
     "take, in doubt"},
};

TEST(DecideAfterTry, follows_the_table) {
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        EXPECT_EQ(text_of(decide_after_try(rule, c.facts, c.end, 0.5)), c.after);
    }
}

TEST(DecideAfterTry, a_refusal_by_a_front_end_shows_nothing_about_the_earlier_try) {
    const TryFacts after_a_lost_one{.again = keyed, .tries = 2, .doubt = true};
    for (const int status : {401, 403, 404, 405, 407, 410, 421, 501, 505}) {
        const auto after = decide_after_try(rule, after_a_lost_one, answered(status), 0.5);
        EXPECT_EQ(text_of(after), "take, in doubt") << status;
    }
    const auto too_early = decide_after_try(rule, after_a_lost_one, answered(425), 0.5);
    EXPECT_EQ(text_of(too_early), "again, in doubt");
}

TEST(DecideAfterTry, a_temporary_status_is_retried_unless_the_server_says_no) {
    for (const int status : {500, 502, 503, 504}) {
        EXPECT_EQ(
            text_of(decide_after_try(rule, {keyed, 1}, answered(status), 0.5)), "again, in doubt"
        ) << status;
        EXPECT_EQ(
            text_of(decide_after_try(rule, {keyed, 1}, told(status, false), 0.5)), "take, in doubt"
        ) << status;
    }
    EXPECT_EQ(text_of(decide_after_try(rule, {keyed, 1}, answered(425), 0.5)), "again");
    EXPECT_EQ(text_of(decide_after_try(rule, {keyed, 1}, answered(505), 0.5)), "take");
}

TEST(DecideAfterTry, waits_as_long_as_the_server_asks_and_never_shorter) {
    const TryFacts facts{Repeat::safe_with_key, 1};
    const TryEnd throttled{.kind = Kind::answered, .status = 429, .retry_after = 7s};

    EXPECT_EQ(wait_of(decide_after_try(rule, facts, throttled, 0.0)), 7s);
    EXPECT_GT(wait_of(decide_after_try(rule, facts, throttled, 0.9)), 7s);
    EXPECT_LE(wait_of(decide_after_try(rule, facts, throttled, 0.999)), 7500ms);
}

TEST(DecideAfterTry, a_retry_after_of_an_hour_is_capped) {
    const TryFacts facts{Repeat::safe_with_key, 1};
    const TryEnd maintenance{.kind = Kind::answered, .status = 503, .retry_after = 1h};

    EXPECT_EQ(wait_of(decide_after_try(rule, facts, maintenance, 0.0)), 30s);
}

TEST(DecideAfterTry, a_retry_after_of_zero_still_waits_the_jitter) {
    const TryFacts facts{Repeat::safe_with_key, 1};
    const TryEnd throttled{.kind = Kind::answered, .status = 429, .retry_after = 0s};

    EXPECT_EQ(wait_of(decide_after_try(rule, facts, throttled, 0.0)), 500ms);
}

TEST(DecideAfterTry, does_not_begin_a_wait_that_ends_after_the_deadline) {
    const TryFacts facts{.again = Repeat::safe_with_key, .tries = 1, .spent = 35s};
    const TryEnd maintenance{.kind = Kind::answered, .status = 503, .retry_after = 25s};

    EXPECT_EQ(text_of(decide_after_try(rule, facts, maintenance, 0.0)), "take, in doubt");
}

TEST(DecideAfterTry, without_repeats_the_first_try_is_the_last) {
    const RetryRule once{.repeats = false};

    EXPECT_EQ(text_of(decide_after_try(once, {keyed, 1}, {Kind::not_sent}, 0)), "give up: tries");
    EXPECT_EQ(
        text_of(decide_after_try(once, {keyed, 1}, {Kind::lost}, 0)), "give up: tries, in doubt"
    );
    EXPECT_EQ(text_of(decide_after_try(once, {keyed, 1}, answered(503), 0)), "take, in doubt");
}

TEST(WaitBefore, stripes_first_wait_has_jitter) {
    const RetryRule stripe{.jitter = Jitter::stripe, .first = 500ms, .longest = 5s};

    EXPECT_EQ(wait_before(stripe, 1, 0ms, 0.0), 500ms);
    EXPECT_EQ(wait_before(stripe, 1, 500ms, 0.5), 750ms);
    EXPECT_EQ(wait_before(stripe, 2, 500ms, 0.0), 1s);
    EXPECT_EQ(wait_before(stripe, 30, 5s, 0.0), 2500ms);
}

TEST(WaitBefore, decorrelated_jitter_grows_from_the_previous_wait) {
    EXPECT_EQ(wait_before(rule, 1, 0ms, 0.0), 500ms);
    EXPECT_EQ(wait_before(rule, 1, 0ms, 0.5), 1s);
    EXPECT_EQ(wait_before(rule, 2, 4s, 0.5), 6250ms);
    EXPECT_EQ(wait_before(rule, 9, 20s, 0.9), 20s);
}

TEST(RetryRule, names_the_option_that_is_wrong) {
    EXPECT_EQ(RetryRule{}.problem(), std::nullopt);
    EXPECT_EQ(RetryRule{.tries_max = 0}.problem(), "tries_max is 0: at least 1");
    EXPECT_EQ(
        (RetryRule{.first = 2s, .longest = 1s}.problem()),
        "longest is 1000 ms: at least first, 2000 ms"
    );
    EXPECT_EQ(
        (RetryRule{.first = 50ms}.problem()), "shortest is 100 ms: from 0 ms to first, 50 ms"
    );
    EXPECT_EQ(RetryRule{.first = 0ms}.problem(), "first is 0 ms: at least 1 ms");
    EXPECT_EQ(
        RetryRule{.shortest = -1ms}.problem(), "shortest is -1 ms: from 0 ms to first, 500 ms"
    );
    EXPECT_EQ(
        RetryRule{.retry_after_max = -1ms}.problem(), "retry_after_max is -1 ms: at least 0 ms"
    );
    EXPECT_EQ(RetryRule{.deadline = 0ms}.problem(), "deadline is 0 ms: at least 1 ms");
}

}  // namespace
}  // namespace pawl::core::client_retry_test
