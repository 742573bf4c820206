#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

// Decides who has a named lease (include/pawl/lease.hpp), and for how long its holder may rely on
// it. Two clocks: the backend's clock decides there; the holder uses only its process's steady
// clock, and stops first. For the lease of a key see claim_rule.hpp.
namespace pawl::core {

using SteadyTime = std::chrono::steady_clock::time_point;

// The lease as stored.
struct LeaseFacts {
    std::int64_t epoch{};
    std::optional<std::string_view> holder{};  // nullopt: released.
    TimePoint until{};
    std::chrono::milliseconds ttl{};
};

struct LeaseAcquired {
    std::int64_t epoch{};  // The new holder's.
};
struct LeaseHeld {
    std::chrono::milliseconds left{};  // Time until its end, if it is not renewed; above 0.
};
using LeaseChoice = std::variant<LeaseAcquired, LeaseHeld>;

// A lease that ends later than twice its ttl was written by a wrong clock, and is over.
bool named_lease_over(const LeaseFacts& lease, TimePoint now) noexcept;

// `found` is null for a new name. The same holder gets the lease again, as after a lost answer.
LeaseChoice decide_lease(const LeaseFacts* found, std::string_view holder, TimePoint now) noexcept;

// A lease that is over is not renewed, even if it is free: its holder knows that it is lost.
bool may_extend(
    const LeaseFacts* found, std::int64_t epoch, std::string_view holder, TimePoint now
) noexcept;

// How far the two clocks may differ within a ttl, as a fraction of it, without two holders at once.
inline constexpr int lease_margin_part = 10;

// When the holder considers it lost. `asked_at`: before the request to the backend, which counts
// the lease from a later moment.
SteadyTime holder_end(SteadyTime asked_at, std::chrono::milliseconds ttl) noexcept;
// When to renew: early enough for two failed tries and a third.
SteadyTime renewal_due(SteadyTime asked_at, std::chrono::milliseconds ttl) noexcept;
// The next try after a temporary failure.
SteadyTime renewal_due_again(SteadyTime now, std::chrono::milliseconds ttl) noexcept;

// How long a waiter pauses between polls: not past the end of the lease or the wait, and not so
// short that waiters are a load. `polls` counts from 0; dice in [0, 1).
std::chrono::milliseconds next_poll_in(
    std::chrono::milliseconds lease_left,
    std::chrono::milliseconds wait_left,
    int polls,
    double dice
) noexcept;

}  // namespace pawl::core
