#include "src/core/call_rule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core::call_rule_test {
namespace {

using namespace std::chrono_literals;

const TimePoint now{10'000'000s};

TEST(DecideCall, follows_the_table) {
    struct Case {
        std::string name;
        CallFacts facts;
        std::string rule;
    };
    const std::vector<Case> cases{
        {"safe, never called", {.again = Repeat::safe}, "call"},
        {"safe, called a year ago",
         {.again = Repeat::safe, .called_at = now - 8'760h, .provider_key_lifetime = 20h},
         "call"},
        {"keyed, first", {.again = Repeat::safe_with_key, .provider_key_lifetime = 20h}, "call"},
        {"keyed, just inside", {Repeat::safe_with_key, now - 20h + 1ms, false, 20h}, "call"},
        {"keyed, at the limit", {Repeat::safe_with_key, now - 20h, false, 20h}, "forgotten"},
        {"keyed, first call in the future",
         {Repeat::safe_with_key, now + 31s, false, 20h},
         "forgotten"},
        // The database's clock is ahead of this process's.
        {"keyed, as far ahead as two clocks differ",
         {Repeat::safe_with_key, now + 30s, false, 20h},
         "call"},
        {"keyed, this moment", {Repeat::safe_with_key, now, false, 20h}, "call"},
        {"never, first", {.again = Repeat::never}, "call"},
        {"never, marked", {.again = Repeat::never, .called_at = now, .calling = true}, "in doubt"},
        {"never, mark cleared", {.again = Repeat::never, .calling = false}, "call"},
        {"never, once a keyed step that called",
         {.again = Repeat::never, .called_at = now - 1s},
         "in doubt"},
        {"keyed, once a step that was never to be repeated",
         {Repeat::safe_with_key, now - 1s, true, 20h},
         "in doubt"},
        {"safe, once a step that was never to be repeated",
         {.again = Repeat::safe, .called_at = now - 1s, .calling = true},
         "in doubt"},
        // Issue 16, number 20: after a restart with another URL, both were charged.
        {"keyed, another provider was called",
         {Repeat::safe_with_key, now - 1s, false, 20h, "stripe a", "stripe b"},
         "elsewhere"},
        {"safe, another provider was called",
         {Repeat::safe, now - 1s, false, 20h, "stripe a", "stripe b"},
         "elsewhere"},
        {"keyed, the same provider was called",
         {Repeat::safe_with_key, now - 1s, false, 20h, "stripe a", "stripe a"},
         "call"},
        {"keyed, another provider, but no call was made",
         {Repeat::safe_with_key, std::nullopt, false, 20h, "stripe a", "stripe b"},
         "call"},
        {"keyed, an older binary called and named nobody",
         {Repeat::safe_with_key, now - 1s, false, 20h, "", "stripe b"},
         "call"},
        {"keyed, this binary names nobody",
         {Repeat::safe_with_key, now - 1s, false, 20h, "stripe a", ""},
         "call"},
        // Issue 16, number 4: a database restored to an hour ago charged those requests again.
        {"never, perhaps made in the time that a restore lost",
         {.again = Repeat::never, .called_at = now - 1h, .restored = true},
         "restored"},
        {"keyed, perhaps made then, within the provider's memory",
         {.again = Repeat::safe_with_key,
          .called_at = now - 20h + 1ms,
          .provider_key_lifetime = 20h,
          .restored = true},
         "call"},
        {"keyed, perhaps made then, at the limit of its memory",
         {.again = Repeat::safe_with_key,
          .called_at = now - 20h,
          .provider_key_lifetime = 20h,
          .restored = true},
         "restored"},
        {"safe, perhaps made then",
         {.again = Repeat::safe, .called_at = now - 8'760h, .restored = true},
         "call"},
        {"keyed, perhaps made then at another of several providers",
         {.again = Repeat::safe_with_key,
          .called_at = now - 1h,
          .provider_key_lifetime = 20h,
          .restored = true,
          .routed = true},
         "restored"},
        {"never, marked, at a provider that is not there any more",
         {Repeat::never, now - 1s, true, 20h, "stripe a", "no provider"},
         "elsewhere"},
        {"keyed, unanswered for too short a time to ask",
         {.again = Repeat::safe_with_key,
          .called_at = now - 5min + 1ms,
          .provider_key_lifetime = 20h,
          .ask_after = 5min},
         "call"},
        {"keyed, unanswered for long",
         {.again = Repeat::safe_with_key,
          .called_at = now - 5min,
          .provider_key_lifetime = 20h,
          .ask_after = 5min},
         "unanswered"},
        {"keyed, and asked about before",
         {.again = Repeat::safe_with_key,
          .called_at = now - 1s,
          .calling = true,
          .provider_key_lifetime = 20h},
         "in doubt"},
    };
    const auto word = [](const CallRule& rule) {
        const auto* stop = std::get_if<MustNotCall>(&rule);
        if (stop == nullptr) return "call";
        switch (stop->why) {
            case MustNotCall::Reason::in_doubt:
                return "in doubt";
            case MustNotCall::Reason::forgotten:
                return "forgotten";
            case MustNotCall::Reason::elsewhere:
                return "elsewhere";
            case MustNotCall::Reason::unanswered:
                return "unanswered";
            case MustNotCall::Reason::restored:
                break;
        }
        return "restored";
    };
    for (const auto& c : cases) EXPECT_EQ(word(decide_call(c.facts, now)), c.rule) << c.name;
}

TEST(MayInquire, asks_no_provider_but_the_one_that_was_called) {
    using Reason = MustNotCall::Reason;
    for (const auto why :
         {Reason::in_doubt, Reason::forgotten, Reason::restored, Reason::unanswered})
        EXPECT_TRUE(may_inquire(why));
    EXPECT_FALSE(may_inquire(Reason::elsewhere));
}

TEST(DecideAfterInquiry, follows_the_table) {
    using enum AfterInquiry;
    using enum InquiryEnded;
    struct Case {
        std::string name;
        InquiryFacts facts;
        AfterInquiry after;
    };
    const std::vector<Case> cases{
        {"found at once", {.ended = found, .ask_for = 1h}, keep},
        {"found, though the provider repeats an error", {.ended = found, .stuck = true}, keep},
        {"found after days", {.ended = found, .asking_since = now - 48h, .ask_for = 1h}, keep},
        {"not found, the first inquiry: a copy may be on its way",
         {.ended = not_found, .final_after = 0s, .ask_for = 1h},
         ask_later},
        {"not found, not yet final",
         {.ended = not_found,
          .final_after = 10min,
          .asking_since = now - 10min + 1ms,
          .ask_for = 1h},
         ask_later},
        {"not found, and final",
         {.ended = not_found, .final_after = 10min, .asking_since = now - 10min, .ask_for = 1h},
         call_anew},
        {"not found, final later than a person would be asked",
         {.ended = not_found, .final_after = 2h, .asking_since = now - 90min, .ask_for = 1h},
         ask_later},
        {"not found, never final",
         {.ended = not_found, .asking_since = now - 59min, .ask_for = 1h},
         ask_later},
        {"not found, never final, for long",
         {.ended = not_found, .asking_since = now - 1h, .ask_for = 1h},
         needs_person},
        {"undecided, for long",
         {.ended = undecided, .asking_since = now - 1h, .ask_for = 1h},
         needs_person},
        {"undecided", {.ended = undecided, .asking_since = now - 1s, .ask_for = 1h}, ask_later},
        {"not found, though the provider answers with an error: its contract is broken",
         {.ended = not_found, .final_after = 0s, .asking_since = now - 1h, .stuck = true},
         needs_person},
        {"not found, and the first inquiry is in the future: a clock is wrong",
         {.ended = not_found, .final_after = 0s, .asking_since = now + 31s, .ask_for = 1h},
         needs_person},
    };
    for (const auto& c : cases) EXPECT_EQ(decide_after_inquiry(c.facts, now), c.after) << c.name;
}

TEST(RefusalIsProof, unless_an_earlier_try_may_arrive_at_a_provider_that_forgets) {
    EXPECT_TRUE(refusal_is_proof(Refusals::remembered, EarlierCall::perhaps));
    EXPECT_TRUE(refusal_is_proof(Refusals::remembered, EarlierCall::none));
    EXPECT_TRUE(refusal_is_proof(Refusals::forgotten, EarlierCall::none));
    EXPECT_FALSE(refusal_is_proof(Refusals::forgotten, EarlierCall::perhaps));
}

TEST(DecideAfterFailedBegin, keeps_a_proof_that_the_provider_can_not_repeat) {
    const auto after = [](Repeat again, KeepFailure failure) {
        return decide_after_failed_begin(again, failure);
    };
    EXPECT_EQ(after(Repeat::never, KeepFailure::transient), AfterFailedKeep::keep_later);
    EXPECT_EQ(after(Repeat::never, KeepFailure::defect), AfterFailedKeep::needs_person);
    EXPECT_EQ(after(Repeat::safe_with_key, KeepFailure::transient), AfterFailedKeep::call_again);
    EXPECT_EQ(after(Repeat::safe_with_key, KeepFailure::defect), AfterFailedKeep::call_again);
}

TEST(MayStillCall, ends_with_the_first_half_of_the_lease_by_either_clock) {
    const std::chrono::steady_clock::time_point steady{500s};
    const Moment taken{now, steady};

    EXPECT_TRUE(may_still_call(taken, taken, 30s));
    EXPECT_TRUE(may_still_call(taken, {now + 15s - 1ms, steady + 15s - 1ms}, 30s));
    EXPECT_FALSE(may_still_call(taken, {now + 15s, steady}, 30s));       // The machine slept.
    EXPECT_FALSE(may_still_call(taken, {now - 1h, steady + 15s}, 30s));  // The clock was set back.
    // Found by the simulator: after a clock is set back, a lease taken before may look too far away
    // to be possible, and thus over.
    EXPECT_FALSE(may_still_call(taken, {now - 15s, steady}, 30s));
    EXPECT_TRUE(may_still_call(taken, {now - 15s + 1ms, steady}, 30s));
}

TEST(DecideAfterCall, a_call_that_is_never_repeated_goes_to_a_person_when_in_doubt) {
    const auto after = [](CallEnded end) {
        return decide_after_call(Repeat::never, end, EarlierCall::none);
    };
    EXPECT_EQ(after(CallEnded::in_doubt), AfterCall::needs_person);
    EXPECT_EQ(after(CallEnded::retry), AfterCall::clear_mark);
    EXPECT_EQ(after(CallEnded::result), AfterCall::keep);
}

TEST(DecideAfterCall, an_outage_never_finishes_a_key) {
    for (const auto again : {Repeat::safe, Repeat::safe_with_key}) {
        for (const auto earlier : {EarlierCall::none, EarlierCall::perhaps}) {
            const auto after = [&](CallEnded end) {
                return decide_after_call(again, end, earlier);
            };
            EXPECT_EQ(after(CallEnded::in_doubt), AfterCall::try_again);
            EXPECT_EQ(after(CallEnded::stuck), AfterCall::needs_person);
        }
    }
}

// Issue 16, number 15.
TEST(DecideAfterCall, a_try_without_effect_erases_no_earlier_call) {
    for (const auto again : {Repeat::safe, Repeat::safe_with_key, Repeat::never}) {
        EXPECT_EQ(
            decide_after_call(again, CallEnded::retry, EarlierCall::none), AfterCall::clear_mark
        );
        EXPECT_EQ(
            decide_after_call(again, CallEnded::retry, EarlierCall::perhaps), AfterCall::try_again
        );
    }
}

// Issue 16, number 18.
TEST(DecideAfterFailedKeep, a_result_is_stored_after_the_keeper_failed_alone) {
    for (const auto again : {Repeat::safe, Repeat::safe_with_key, Repeat::never}) {
        const auto after = [&](KeepFailure failure, KeepExtent extent) {
            return decide_after_failed_keep(again, failure, extent);
        };
        const auto later =
            again == Repeat::never ? AfterFailedKeep::keep_later : AfterFailedKeep::call_again;
        EXPECT_EQ(after(KeepFailure::transient, KeepExtent::with_phases), later);
        EXPECT_EQ(after(KeepFailure::transient, KeepExtent::keeper_alone), later);
        EXPECT_EQ(after(KeepFailure::defect, KeepExtent::with_phases), AfterFailedKeep::keep_alone);
        EXPECT_EQ(
            after(KeepFailure::defect, KeepExtent::keeper_alone), AfterFailedKeep::store_result
        );
    }
}

}  // namespace
}  // namespace pawl::core::call_rule_test
