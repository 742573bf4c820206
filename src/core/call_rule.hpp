#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/session.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <variant>

// Whether a foreign call may be made, and what its end means. Repairs F4, F7, F8 and F9 of
// model/README.md.
namespace pawl::core {

// What two clocks may differ by: those of two machines, or a database's and this process's.
inline constexpr std::chrono::seconds clocks_differ_by{30};

struct CallFacts {
    Repeat again{};
    std::optional<TimePoint>
        called_at{};  // Of the first call from this recovery point and generation.
    bool calling{};   // The mark that a Repeat::never call was about to be made.
    std::chrono::milliseconds provider_memory{};
    // Who was called at called_at, and who would be called now; empty: not named.
    std::string_view called_target{};
    std::string_view target{};
    // The database was restored, and may have lost the record of a call: `called_at` is when that
    // could have been at the earliest (lost_time.hpp).
    bool restored{};
};

struct MayCall {};
struct MustNotCall {
    enum class Why {
        in_doubt,   // The call may have been made, and is never repeated.
        forgotten,  // The provider may have forgotten our key.
        elsewhere,  // Another provider or account was called, which may have carried it out.
        // The call may have been made, and only because a restore may have lost the record of it.
        restored
    };
    Why why{Why::in_doubt};
};
using CallRule = std::variant<MayCall, MustNotCall>;

CallRule decide_call(const CallFacts& facts, TimePoint now) noexcept;

// When a lease was taken, by both clocks of the process that holds it: a wall clock may be set
// back, a steady one stands still while the machine sleeps.
struct Moment {
    TimePoint wall;
    std::chrono::steady_clock::time_point steady;
};

// Whether a call that waited for its thread may still be sent: in the first half of its lease,
// which leaves the other half to renew it in. Later another node may have the key, or a person may
// have looked at the provider and seen no charge.
bool may_still_call(
    const Moment& taken, const Moment& now, std::chrono::milliseconds lease
) noexcept;

enum class CallEnded { result, retry, in_doubt, stuck };

// Whether an earlier attempt may have made the same call already.
enum class EarlierCall { none, perhaps };

enum class AfterCall {
    keep,        // Run the keeper.
    try_again,   // Give the key back; the call may be repeated as its step says.
    clear_mark,  // The same, and erase the time and the mark of the call: none was ever made.
    needs_person
};
AfterCall decide_after_call(Repeat again, CallEnded end, EarlierCall earlier) noexcept;

// Why the transaction failed that was to record a call's result.
enum class KeepFailure {
    passing,  // The database was away, busy, or the commit is in doubt: later it may succeed.
    defect    // The keeper or a phase behind it threw, or broke a constraint.
};
// How much that transaction did.
enum class KeepExtent {
    with_phases,  // The keeper, and the phases behind it up to the next call or the end.
    keeper_alone
};
enum class AfterFailedKeep {
    keep_later,   // Hold the result in memory and try again: the provider can't be asked for it.
    call_again,   // Give the key back; the next attempt gets the result under the same key.
    keep_alone,   // Commit the keeper without the phases behind it, which may have failed.
    needs_person  // With the result: only another program can keep it.
};
AfterFailedKeep decide_after_failed_keep(
    Repeat again, KeepFailure failure, KeepExtent extent
) noexcept;

}  // namespace pawl::core
