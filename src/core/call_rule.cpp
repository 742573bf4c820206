#include "src/core/call_rule.hpp"

#include <algorithm>

namespace pawl::core {

bool goes_elsewhere(const CallFacts& facts) noexcept {
    const bool both_named = !facts.called_target.empty() && !facts.target.empty();
    return facts.called_at && both_named && facts.called_target != facts.target;
}

CallRule decide_call(const CallFacts& facts, TimePoint now) noexcept {
    using Reason = MustNotCall::Reason;
    if (goes_elsewhere(facts)) return MustNotCall{Reason::elsewhere};
    // Before the mark, which leads to an inquiry: it would prove nothing about the other providers.
    if (facts.routed && facts.restored) return MustNotCall{Reason::restored};
    // The mark counts whatever the flow says now: a deploy may have changed the step's Repeat.
    if (facts.calling) return MustNotCall{};
    switch (facts.again) {
        case Repeat::safe:
            return MayCall{};
        case Repeat::never:
            // A first call without the mark: made under a key by an earlier binary, or perhaps made
            // in the time that a restore has lost.
            if (facts.called_at)
                return MustNotCall{facts.restored ? Reason::restored : Reason::in_doubt};
            return MayCall{};
        case Repeat::safe_with_key:
            break;
    }
    if (!facts.called_at) return MayCall{};
    // A first call in the future: a clock was wrong, and the call's age is unknown. A small
    // difference is normal between the database's clock and this process's.
    const auto age = now - *facts.called_at;
    if (age < -clocks_differ_by || age >= facts.provider_key_lifetime)
        return MustNotCall{facts.restored ? Reason::restored : Reason::forgotten};
    if (facts.ask_after && age >= *facts.ask_after) return MustNotCall{Reason::unanswered};
    return MayCall{};
}

bool may_inquire(MustNotCall::Reason why) noexcept {
    return why != MustNotCall::Reason::elsewhere;
}

AfterInquiry decide_after_inquiry(const InquiryFacts& facts, TimePoint now) noexcept {
    if (facts.ended == InquiryEnded::found) return AfterInquiry::keep;
    if (facts.stuck) return AfterInquiry::needs_person;
    if (!facts.asking_since) return AfterInquiry::ask_later;
    const auto asked_for = now - *facts.asking_since;
    if (asked_for < -clocks_differ_by) return AfterInquiry::needs_person;
    const bool may_be_final = facts.ended == InquiryEnded::not_found && facts.final_after;
    if (may_be_final && asked_for >= *facts.final_after) return AfterInquiry::call_anew;
    const auto longest = may_be_final ? std::max(facts.ask_for, *facts.final_after) : facts.ask_for;
    return asked_for >= longest ? AfterInquiry::needs_person : AfterInquiry::ask_later;
}

bool refusal_is_proof(Refusals refusals, EarlierCall earlier) noexcept {
    return refusals == Refusals::remembered || earlier == EarlierCall::none;
}

bool may_still_call(
    const Moment& taken, const Moment& now, std::chrono::milliseconds lease
) noexcept {
    // After such a step back, other nodes may consider the lease one of a wrong clock, and over.
    const auto by_wall = now.wall - taken.wall;
    return std::chrono::abs(by_wall) < lease / 2 && now.steady - taken.steady < lease / 2;
}

AfterCall decide_after_call(Repeat again, CallEnded end, EarlierCall earlier) noexcept {
    switch (end) {
        case CallEnded::result:
            return AfterCall::keep;
        case CallEnded::stuck:
            return AfterCall::needs_person;
        case CallEnded::retry:
            // This try did nothing, but an earlier one may have.
            return earlier == EarlierCall::none ? AfterCall::clear_mark : AfterCall::try_again;
        case CallEnded::in_doubt:
            break;
    }
    return again == Repeat::never ? AfterCall::needs_person : AfterCall::try_again;
}

AfterFailedKeep decide_after_failed_keep(
    Repeat again, KeepFailure failure, KeepExtent extent
) noexcept {
    if (failure == KeepFailure::transient)
        return again == Repeat::never ? AfterFailedKeep::keep_later : AfterFailedKeep::call_again;
    // The second run also shows whether a violated constraint was a race with another transaction.
    if (extent == KeepExtent::with_phases) return AfterFailedKeep::keep_alone;
    return AfterFailedKeep::store_result;
}

AfterFailedKeep decide_after_failed_begin(Repeat again, KeepFailure failure) noexcept {
    // Under its key the provider gives the same answer again.
    if (again != Repeat::never) return AfterFailedKeep::call_again;
    return failure == KeepFailure::transient ? AfterFailedKeep::keep_later
                                             : AfterFailedKeep::needs_person;
}

}  // namespace pawl::core
