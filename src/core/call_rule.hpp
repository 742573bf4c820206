#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/session.hpp>

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
};

struct MayCall {};
struct MustNotCall {
    enum class Reason {
        in_doubt,   // The call may have been made, and is never repeated.
        forgotten,  // The provider may have forgotten our key.
        // An earlier call went to another provider or account, which may have carried it out.
        elsewhere,
        // Only because a restore may have lost the record of a call.
        restored
    };
    Reason why{Reason::in_doubt};
};
using CallRule = std::variant<MayCall, MustNotCall>;

CallRule decide_call(const CallFacts& facts, TimePoint now) noexcept;

// When a lease was taken, by both clocks of its holder: a wall clock may be set back, and a steady
// clock stops while the machine sleeps.
struct Moment {
    TimePoint wall;
    std::chrono::steady_clock::time_point steady;
};

// Whether a call that waited for its thread may still be sent: in the first half of its lease,
// which leaves the other half for renewing it. Later another node may have the key, or an operator
// may have looked at the provider and seen no charge.
bool may_still_call(
    const Moment& taken, const Moment& now, std::chrono::milliseconds lease
) noexcept;

enum class CallEnded { result, retry, in_doubt, stuck };

// Whether an earlier attempt may have made the same call already.
enum class EarlierCall { none, perhaps };

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
    keep_later,   // Keep the result in memory and try again: the provider can't be asked for it.
    call_again,   // Give the key back; the next attempt gets the result under the same key.
    keep_alone,   // Commit the keeper without the later phases, which may have failed.
    needs_person  // With the result, which only another program can store.
};
AfterFailedKeep decide_after_failed_keep(
    Repeat again, KeepFailure failure, KeepExtent extent
) noexcept;

}  // namespace pawl::core
