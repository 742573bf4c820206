#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/session.hpp>

#include "src/core/moment.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <variant>

// Whether a foreign call may be made, and what its end means. See F4, F7 to F9 of model/README.md.
namespace pawl::core {

// The largest expected difference of two clocks: of machines, or the database and us.
inline constexpr std::chrono::seconds clocks_differ_by{30};

struct CallFacts {
    Repeat again{};
    // The first call from this recovery point and generation.
    std::optional<TimePoint> called_at{};
    bool calling{};  // The mark that a Repeat::never call was about to be made.
    std::chrono::milliseconds provider_key_lifetime{};
    // The target of the call at called_at, and today's; empty: not named.
    std::string_view called_target{};
    std::string_view target{};
    // The database was restored, and may have lost the record of a call, which was made at
    // called_at at the earliest (restore_gap.hpp).
    bool restored{};
    // There are several providers: in the lost time another one may have been called.
    bool routed{};
    // Provider::ask_after, if the call has an inquiry.
    std::optional<std::chrono::milliseconds> ask_after{};
};

struct MayCall {};
struct MustNotCall {
    enum class Reason {
        in_doubt,   // The call may have been made, and is never repeated.
        forgotten,  // The provider may have forgotten our key.
        // An earlier call went to another provider or account, which may have carried it out.
        elsewhere,
        // Only because a restore may have lost the record of a call.
        restored,
        unanswered  // The call may be repeated, but asking may lead further.
    };
    Reason why{Reason::in_doubt};
};
using CallRule = std::variant<MayCall, MustNotCall>;

// An earlier call went to another provider or account than a call would go to now.
bool goes_elsewhere(const CallFacts& facts) noexcept;

CallRule decide_call(const CallFacts& facts, TimePoint now) noexcept;

// Whether to ask the provider what became of a call that is not made. The provider is the one that
// was called.
bool may_inquire(MustNotCall::Reason why) noexcept;

// What follows an inquiry.
enum class InquiryEnded { found, not_found, undecided };
struct InquiryFacts {
    InquiryEnded ended{};
    std::optional<std::chrono::milliseconds> final_after{};  // NotFound::final_after.
    // When the first inquiry of this generation was recorded: no call was made after that. nullopt:
    // this is the first.
    std::optional<TimePoint> asking_since{};
    std::chrono::milliseconds ask_for{};  // Settings::ask_for.
    // The provider answered, but its answer is no result, and never changes.
    bool stuck{};
};
enum class AfterInquiry {
    keep,       // Run the keeper of the result that was found.
    call_anew,  // It is proven that the call was not made: make it under another key.
    ask_later,  // Give the key back; the next attempt asks again.
    needs_person
};
// `now` is a time before the inquiry, by the clock of asking_since.
AfterInquiry decide_after_inquiry(const InquiryFacts& facts, TimePoint now) noexcept;

// Whether a call that waited for its thread may still be sent: in the first half of its lease,
// which leaves the other half for renewing it. Later another node may have the key, or an operator
// may have looked at the provider and seen no charge.
bool may_still_call(
    const Moment& taken, const Moment& now, std::chrono::milliseconds lease
) noexcept;

enum class CallEnded { result, retry, in_doubt, stuck };

// Whether an earlier attempt may have made the same call already.
enum class EarlierCall { none, perhaps };

// Whether a refusal proves that its provider will never carry the call out, so that the next
// provider may be called: an earlier try may still arrive.
enum class Refusals { remembered, forgotten };
bool refusal_is_proof(Refusals refusals, EarlierCall earlier) noexcept;

enum class AfterCall {
    keep,       // Run the keeper.
    try_again,  // Give the key back; the call may be repeated as its step says.
    // The same, and erase the time and the mark of the call: it is proven that none was made.
    clear_mark,
    needs_person
};
AfterCall decide_after_call(Repeat again, CallEnded end, EarlierCall earlier) noexcept;

// Why the transaction that records a call's result failed.
enum class KeepFailure {
    // The database was unreachable or busy, or the commit is in doubt; it may succeed later.
    transient,
    defect  // The keeper or a later phase threw, or violated a constraint.
};
// The extent of that transaction.
enum class KeepExtent {
    with_phases,  // The keeper, and the phases after it up to the next call or the end.
    keeper_alone
};
enum class AfterFailedKeep {
    keep_later,  // Keep the result in memory and try again: the provider can't be asked for it.
    call_again,  // Give the key back; the next attempt gets the result under the same key.
    keep_alone,  // Commit the keeper without the later phases, which may have failed.
    // Store the result itself: a later program, or a corrected schema, can record it.
    store_result,
    needs_person
};
AfterFailedKeep decide_after_failed_keep(
    Repeat again, KeepFailure failure, KeepExtent extent
) noexcept;
// Why the transaction failed that begins the next generation of a call. The proof that the call was
// not made is only in memory.
AfterFailedKeep decide_after_failed_begin(Repeat again, KeepFailure failure) noexcept;

}  // namespace pawl::core
