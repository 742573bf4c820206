#include "src/core/client_retry.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>  // Needs gtest before it.

#include <algorithm>
#include <vector>

namespace pawl::core::client_retry_property_test {
namespace {

using std::chrono::milliseconds;
using Kind = TryEnd::Kind;

RetryRule any_rule() {
    const auto first = *rc::gen::inRange(1, 5'000);
    return {
        .jitter = *rc::gen::element(Jitter::decorrelated, Jitter::full, Jitter::stripe),
        .first = milliseconds{first},
        .longest = milliseconds{*rc::gen::inRange(first, 100'000)},
        .shortest = milliseconds{*rc::gen::inRange(0, first + 1)},
        .tries_max = *rc::gen::inRange(1, 10),
        .deadline = milliseconds{*rc::gen::inRange(1, 600'000)},
        .retry_after_max = milliseconds{*rc::gen::inRange(0, 100'000)}};
}

double any_dice() {
    return *rc::gen::inRange(0, 1'000) / 1'000.0;
}
Repeat any_repeat() {
    return *rc::gen::element(Repeat::safe, Repeat::safe_with_key, Repeat::never);
}

TryEnd any_end() {
    TryEnd end{.kind = *rc::gen::element(Kind::not_sent, Kind::lost, Kind::answered)};
    if (end.kind != Kind::answered) return end;
    end.status = *rc::gen::inRange(200, 600);
    if (*rc::gen::arbitrary<bool>())
        end.retry_after = milliseconds{*rc::gen::inRange(-1'000, 10'000'000)};
    if (*rc::gen::arbitrary<bool>()) end.server_hint = *rc::gen::arbitrary<bool>();
    end.replayed = *rc::gen::arbitrary<bool>();
    return end;
}

struct Story {
    int tries{0};
    milliseconds spent{0};
    bool doubt{false};
    int free{0};
    std::vector<TryEnd> ends;
};

// Tries until the rule says stop; only waits take time.
Story play(const RetryRule& rule, Repeat again) {
    Story story;
    milliseconds waited{0};
    while (true) {
        ++story.tries;
        story.ends.push_back(any_end());
        const auto after = decide_after_try(
            rule,
            {again, story.tries, story.spent, waited, story.doubt, story.free},
            story.ends.back(),
            any_dice()
        );
        if (const auto* more = std::get_if<TryAgain>(&after)) {
            waited = more->wait;
            story.spent += waited;
            story.doubt = more->doubt;
            if (more->free) ++story.free;
            continue;
        }
        if (const auto* take = std::get_if<TakeAnswer>(&after)) story.doubt = take->doubt;
        if (const auto* end = std::get_if<GiveUp>(&after)) story.doubt = end->doubt;
        return story;
    }
}

RC_GTEST_PROP(Retrying, ends_within_its_tries_and_its_deadline, ()) {
    const auto rule = any_rule();
    RC_ASSERT(!rule.problem());

    const auto story = play(rule, any_repeat());

    RC_ASSERT(story.tries - story.free <= rule.tries_max);
    RC_ASSERT(story.spent < rule.deadline);
}

RC_GTEST_PROP(Retrying, only_what_was_not_sent_or_is_in_progress_costs_no_try, ()) {
    const auto again = any_repeat();
    const auto story = play(any_rule(), again);

    const auto free = std::count_if(story.ends.begin(), story.ends.end() - 1, [&](const auto& e) {
        return e.kind == Kind::not_sent ||
               (e.kind == Kind::answered && e.status == 409 && again == Repeat::safe_with_key);
    });
    RC_ASSERT(story.free == free);
}

RC_GTEST_PROP(Retrying, a_call_that_is_never_repeated_is_tried_again_only_on_proof, ()) {
    const auto story = play(any_rule(), Repeat::never);

    for (std::size_t i = 0; i + 1 < story.ends.size(); ++i) {
        const auto& end = story.ends[i];
        RC_ASSERT(end.kind == Kind::not_sent || (end.kind == Kind::answered && end.status == 429));
    }
}

RC_GTEST_PROP(Retrying, never_calls_a_lost_request_certain, ()) {
    const auto story = play(any_rule(), any_repeat());

    const bool lost = std::any_of(story.ends.begin(), story.ends.end(), [](const auto& e) {
        return e.kind == Kind::lost;
    });
    if (lost && story.ends.back().kind != Kind::answered) RC_ASSERT(story.doubt);
}

// Found by the law above: a lost try, a 400 with "try again", and then a try that was not sent.
TEST(Retrying, an_answer_that_asks_for_a_repeat_shows_nothing_about_a_lost_try) {
    const auto after = decide_after_try(
        RetryRule{},
        {Repeat::safe_with_key, 2, milliseconds{0}, milliseconds{0}, true},
        {.kind = Kind::answered, .status = 400, .server_hint = true},
        0.5
    );

    ASSERT_TRUE(std::holds_alternative<TryAgain>(after));
    EXPECT_TRUE(std::get<TryAgain>(after).doubt);
}

RC_GTEST_PROP(Retrying, a_stored_answer_or_a_success_is_never_asked_for_again, ()) {
    const auto story = play(any_rule(), any_repeat());

    for (std::size_t i = 0; i + 1 < story.ends.size(); ++i) {
        RC_ASSERT(!story.ends[i].replayed);
        RC_ASSERT(story.ends[i].kind != Kind::answered || story.ends[i].status >= 400);
    }
}

RC_GTEST_PROP(WaitBefore, stays_between_its_floor_and_its_cap, ()) {
    const auto rule = any_rule();
    const milliseconds before{*rc::gen::inRange(0, 200'000)};

    const auto wait = wait_before(rule, *rc::gen::inRange(1, 100), before, any_dice());

    RC_ASSERT(
        wait >= (rule.jitter == Jitter::full ? rule.shortest : rule.first) || wait == rule.longest
    );
    RC_ASSERT(wait <= rule.longest);
}

RC_GTEST_PROP(WaitBefore, depends_on_the_dice_already_before_the_first_repeat, ()) {
    auto rule = any_rule();
    rule.first = std::max(rule.first, milliseconds{100});
    rule.shortest = std::min(rule.shortest, rule.first / 2);
    rule.longest = std::max(rule.longest, 4 * rule.first);

    RC_ASSERT(
        wait_before(rule, 1, milliseconds{0}, 0.05) < wait_before(rule, 1, milliseconds{0}, 0.95)
    );
}

}  // namespace
}  // namespace pawl::core::client_retry_property_test
