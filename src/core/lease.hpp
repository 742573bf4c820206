#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

// Who has a named lease (include/pawl/lease.hpp), and for how long its holder may believe so. Two
// clocks: where the lease is kept, that of the place decides; its holder goes by the steady clock
// of its process alone, and stops first. Not the lease of a key, which is in claim.hpp.
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

// What stands in the place.
struct LeaseFacts {
    std::int64_t epoch{};
    std::optional<std::string_view> holder{};  // Nothing: it was given back.
    TimePoint until{};
    std::chrono::milliseconds ttl{};
};

struct LeaseTaken {
    std::int64_t epoch{};  // Of the new holder.
};
struct LeaseHeld {
    std::chrono::milliseconds left{};  // Until it is over, if it is not renewed; above 0.
};
using LeaseChoice = std::variant<LeaseTaken, LeaseHeld>;

// Beyond twice its ttl no lease can last, but by a clock that was wrong.
bool named_lease_over(const LeaseFacts& lease, TimePoint now) noexcept;

// `found` is null for a name that is new. Who asks again as the same holder, as after a commit
// without an answer, has it anew.
LeaseChoice decide_lease(const LeaseFacts* found, std::string_view holder, TimePoint now) noexcept;

// One that is over is not renewed, though nobody has it yet: its holder has been told so.
bool may_extend(
    const LeaseFacts* found, std::int64_t epoch, std::string_view holder, TimePoint now
) noexcept;

// How far the two clocks may run apart within a ttl, as a part of it, and still no two hold at
// once.
inline constexpr int lease_margin_part = 10;

// When the holder takes it for lost. `asked_at`: before the place was asked, which counts from a
// moment after that.
SteadyTime holder_end(SteadyTime asked_at, std::chrono::milliseconds ttl) noexcept;
// When it asks for more: two tries that fail still leave time for a third.
SteadyTime renewal_due(SteadyTime asked_at, std::chrono::milliseconds ttl) noexcept;
// After a try that failed for the moment.
SteadyTime renewal_due_again(SteadyTime now, std::chrono::milliseconds ttl) noexcept;

// How long who waits for a lease looks away: not past its end or the wait's, and not so often that
// those who wait are a load. `looks` counts from 0; dice in [0, 1).
std::chrono::milliseconds look_again_in(
    std::chrono::milliseconds lease_left,
    std::chrono::milliseconds wait_left,
    int looks,
    double dice
) noexcept;

}  // namespace pawl::core
