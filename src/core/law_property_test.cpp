#include "src/core/backoff.hpp"
#include "src/core/call_rule.hpp"
#include "src/core/claim_rule.hpp"
#include "src/core/completer_cap.hpp"
#include "src/core/retry_layers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

// Laws for all inputs; the tables in the other tests show examples.
namespace pawl::core::law_property_test {
namespace {

using std::chrono::milliseconds;

// Near the origin, so that equal and neighbouring times are frequent.
TimePoint moment() {
    return TimePoint{milliseconds{1'000'000 + *rc::gen::inRange(-50, 50)}};
}

KeyFacts facts() {
    KeyFacts made;
    made.expired = *rc::gen::arbitrary<bool>();
    made.same_request = *rc::gen::arbitrary<bool>();
    made.comparable = *rc::gen::arbitrary<bool>();
    made.status = *rc::gen::element(KeyStatus::open, KeyStatus::attention, KeyStatus::finished);
    if (*rc::gen::arbitrary<bool>()) made.lease_until = moment();
    made.point_known = *rc::gen::arbitrary<bool>();
    return made;
}

RC_GTEST_PROP(ClaimLaw, work_goes_on_only_for_the_same_request_with_no_lease_in_force, ()) {
    const auto found = facts();
    const auto now = moment();
    const milliseconds lease{*rc::gen::inRange(0, 60)};

    const auto claim = decide_claim(&found, *rc::gen::arbitrary<bool>(), now, lease);

    const bool free =
        !found.lease_until || *found.lease_until <= now || *found.lease_until > now + 2 * lease;
    const bool may = !found.expired && found.same_request && found.comparable &&
                     found.status == KeyStatus::open && found.point_known;
    RC_ASSERT(std::holds_alternative<Resume>(claim) == (may && free));
}

RC_GTEST_PROP(
    ClaimLaw, a_stored_answer_is_given_to_its_own_request_whatever_else_the_row_says, ()
) {
    auto found = facts();
    found.expired = false;
    found.same_request = true;
    found.comparable = true;
    found.status = KeyStatus::finished;

    RC_ASSERT(std::holds_alternative<Replay>(
        decide_claim(&found, *rc::gen::arbitrary<bool>(), moment(), milliseconds{30})
    ));
}

RC_GTEST_PROP(ClaimLaw, another_request_learns_nothing_and_changes_nothing, ()) {
    auto found = facts();
    found.expired = false;
    found.same_request = false;
    found.comparable = true;

    RC_ASSERT(std::holds_alternative<Mismatch>(
        decide_claim(&found, *rc::gen::arbitrary<bool>(), moment(), milliseconds{30})
    ));
}

RC_GTEST_PROP(ClaimLaw, without_its_secret_a_key_is_neither_reused_nor_replayed, ()) {
    auto found = facts();
    found.expired = false;
    found.comparable = false;

    RC_ASSERT(std::holds_alternative<NotComparable>(
        decide_claim(&found, *rc::gen::arbitrary<bool>(), moment(), milliseconds{30})
    ));
}

// However wrong the clock was, a lease ends after two lengths at most.
RC_GTEST_PROP(LeaseLaw, a_lease_is_over_after_its_length_and_stays_over, ()) {
    const auto until = moment();
    const auto now = moment();
    const milliseconds lease{*rc::gen::inRange(0, 60)};

    RC_ASSERT(lease_over(until, now + 2 * lease + milliseconds{100}, lease));
    if (until <= now)
        RC_ASSERT(lease_over(until, now + milliseconds{*rc::gen::inRange(0, 100)}, lease));
}

// Whatever the flow's step says now.
RC_GTEST_PROP(
    CallLaw, a_call_is_not_made_while_the_mark_of_one_that_may_not_be_repeated_stands, ()
) {
    CallFacts at;
    at.again = *rc::gen::element(Repeat::never, Repeat::safe, Repeat::safe_with_key);
    at.calling = true;
    if (*rc::gen::arbitrary<bool>()) at.called_at = moment();
    at.provider_key_lifetime = milliseconds{*rc::gen::inRange(0, 100)};

    RC_ASSERT(!std::holds_alternative<MayCall>(decide_call(at, moment())));
}

RC_GTEST_PROP(CallLaw, a_call_that_may_not_be_repeated_is_made_only_if_none_was, ()) {
    CallFacts at;
    at.again = Repeat::never;
    at.calling = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) at.called_at = moment();
    at.provider_key_lifetime = milliseconds{*rc::gen::inRange(0, 100)};

    RC_ASSERT(
        std::holds_alternative<MayCall>(decide_call(at, moment())) == (!at.calling && !at.called_at)
    );
}

// A forgotten key stays forgotten: waiting makes no call possible again.
RC_GTEST_PROP(CallLaw, time_never_makes_a_keyed_call_possible_again, ()) {
    CallFacts at;
    at.again = Repeat::safe_with_key;
    const auto now = moment();
    at.called_at = now - milliseconds{*rc::gen::inRange(0, 100)};
    at.provider_key_lifetime = milliseconds{*rc::gen::inRange(0, 100)};
    const auto later = now + milliseconds{*rc::gen::inRange(0, 100)};

    if (std::holds_alternative<MustNotCall>(decide_call(at, now)))
        RC_ASSERT(std::holds_alternative<MustNotCall>(decide_call(at, later)));
}

RC_GTEST_PROP(
    BackoffLaw, the_completer_waits_between_half_and_all_of_a_wait_that_never_shrinks, ()
) {
    const CompleterCap cap;
    const int runs = *rc::gen::inRange(1, 1'000);
    const double dice = *rc::gen::inRange(0, 1'000) / 1'000.0;
    const TimePoint now{milliseconds{1'000'000}};
    auto wait = [&](int run, double d) {
        return std::get<TryAgainIn>(
                   decide_after_completer_failure(cap, RunFailure::outage, run, now, now, d)
        )
            .wait;
    };

    const auto full = wait(runs, 0.0);
    RC_ASSERT(wait(runs, dice) <= full);
    RC_ASSERT(wait(runs, dice) * 2 >= full - milliseconds{1});
    RC_ASSERT(full <= cap.wait_max);
    RC_ASSERT(full >= cap.wait_first);
    RC_ASSERT(wait(runs + 1, 0.0) >= full);
}

RC_GTEST_PROP(BackoffLaw, a_job_is_never_early_and_late_by_a_tenth_at_most, ()) {
    const auto layers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 100'000));
    const int failures = *rc::gen::inRange(-2, 12);
    const double dice = *rc::gen::inRange(0, 1'000) / 1'000.0;
    const std::vector<milliseconds> waits{layers.begin(), layers.end()};

    const auto next = decide_after_job_failure(waits, failures, {}, dice);

    const bool has_layer = failures >= 1 && static_cast<std::size_t>(failures) <= waits.size();
    RC_ASSERT(std::holds_alternative<TryAgainIn>(next) == has_layer);
    if (!has_layer) return;
    const auto layer = waits[static_cast<std::size_t>(failures) - 1];
    const auto wait = std::get<TryAgainIn>(next).wait;
    RC_ASSERT(wait >= layer);
    RC_ASSERT(wait <= layer + layer / 10 + milliseconds{1});
}

}  // namespace
}  // namespace pawl::core::law_property_test
