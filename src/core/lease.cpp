#include "src/core/lease.hpp"

#include "src/core/backoff.hpp"

#include <algorithm>

namespace pawl::core {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_poll{20};
constexpr milliseconds longest_poll{250};
constexpr milliseconds shortest_look{1};

}  // namespace

bool named_lease_over(const LeaseFacts& lease, TimePoint now) noexcept {
    return !lease.holder || lease.until <= now || lease.until > now + 2 * lease.ttl;
}

LeaseChoice decide_lease(const LeaseFacts* found, std::string_view holder, TimePoint now) noexcept {
    if (found == nullptr) return LeaseAcquired{1};
    if (named_lease_over(*found, now) || *found->holder == holder)
        return LeaseAcquired{found->epoch + 1};
    return LeaseHeld{found->until - now};
}

bool may_extend(
    const LeaseFacts* found, std::int64_t epoch, std::string_view holder, TimePoint now
) noexcept {
    return found != nullptr && found->epoch == epoch && !named_lease_over(*found, now) &&
           *found->holder == holder;
}

SteadyTime holder_end(SteadyTime asked_at, milliseconds ttl) noexcept {
    return asked_at + ttl - ttl / lease_margin_part;
}

SteadyTime renewal_due(SteadyTime asked_at, milliseconds ttl) noexcept {
    return asked_at + ttl / 3;
}

SteadyTime renewal_due_again(SteadyTime now, milliseconds ttl) noexcept {
    return now + std::max(ttl / 10, milliseconds{10});
}

milliseconds next_poll_in(
    milliseconds lease_left, milliseconds wait_left, int polls, double dice
) noexcept {
    const auto full = exponential_backoff(first_poll, longest_poll, polls);
    const milliseconds some{
        static_cast<milliseconds::rep>(static_cast<double>(full.count()) * (0.5 + dice / 2))};
    // Shortly after its end, when it is certainly over.
    const auto longest = std::min(lease_left + shortest_look, wait_left);
    return std::max(std::min(some, longest), shortest_look);
}

}  // namespace pawl::core
