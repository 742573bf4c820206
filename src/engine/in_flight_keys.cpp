#include "src/engine/in_flight_keys.hpp"

#include "src/core/assert.hpp"

#include <algorithm>
#include <utility>

namespace pawl::engine {

std::variant<InFlightKeys::Entered, InFlightKeys::Occupied> InFlightKeys::enter(
    const std::string& hash, std::string_view fingerprint
) {
    const std::lock_guard lock{mutex_};
    const auto [at, fresh] = live_.try_emplace(hash);
    auto& live = at->second;
    if (!fresh) {
        Occupied found;
        const bool same = live.fingerprint == fingerprint;
        if (!live.fingerprint.empty() && !fingerprint.empty() && (same || live.confirmed))
            found.same_request = same;
        return found;
    }
    live.fingerprint = fingerprint;
    return Entered{};
}

// Only the attempt that entered a key confirms it and leaves it, once.
InFlightKeys::LiveMap::iterator InFlightKeys::entered(const std::string& hash) {
    const auto at = live_.find(hash);
    PAWL_ASSERT(at != live_.end());
    return at;
}

void InFlightKeys::confirm(const std::string& hash) {
    const std::lock_guard lock{mutex_};
    entered(hash)->second.confirmed = true;
}

std::optional<std::uint64_t> InFlightKeys::attach(
    const std::string& hash, OnAnswer waiter, std::chrono::steady_clock::time_point until
) {
    const std::lock_guard lock{mutex_};
    const auto at = live_.find(hash);
    if (at == live_.end()) return std::nullopt;
    at->second.waiters.push_back({next_waiter_, {std::move(waiter), until}});
    return next_waiter_++;
}

std::optional<OnAnswer> InFlightKeys::detach(const std::string& hash, std::uint64_t waiter) {
    const std::lock_guard lock{mutex_};
    const auto at = live_.find(hash);
    if (at == live_.end()) return std::nullopt;
    auto& waiters = at->second.waiters;
    const auto found = std::find_if(waiters.begin(), waiters.end(), [&](const Attached& a) {
        return a.id == waiter;
    });
    if (found == waiters.end()) return std::nullopt;
    auto on_answer = std::move(found->waiter.on_answer);
    waiters.erase(found);
    return on_answer;
}

std::optional<InFlightKeys::Waiter> InFlightKeys::hand_over(const std::string& hash) {
    const std::lock_guard lock{mutex_};
    const auto at = entered(hash);
    if (at->second.waiters.empty()) {
        ++answering_;
        live_.erase(at);
        return std::nullopt;
    }
    auto last = std::move(at->second.waiters.back().waiter);
    at->second.waiters.pop_back();
    return last;
}

std::vector<OnAnswer> InFlightKeys::remove(const std::string& hash) {
    std::vector<OnAnswer> waiting;
    const std::lock_guard lock{mutex_};
    const auto at = entered(hash);
    ++answering_;
    waiting.reserve(at->second.waiters.size());
    for (auto& [id, waiter] : at->second.waiters) waiting.push_back(std::move(waiter.on_answer));
    live_.erase(at);
    return waiting;
}

void InFlightKeys::waiters_answered() {
    const std::lock_guard lock{mutex_};
    PAWL_ASSERT(answering_ > 0);  // One for each key that was left.
    --answering_;
    if (empty()) emptied_.notify_all();
}

std::shared_ptr<void> InFlightKeys::hold() {
    {
        const std::lock_guard lock{mutex_};
        ++holds_;
    }
    return {this, [](InFlightKeys* keys) {
                const std::lock_guard guard{keys->mutex_};
                PAWL_ASSERT(keys->holds_ > 0);
                --keys->holds_;
                if (keys->empty()) keys->emptied_.notify_all();
            }};
}

std::size_t InFlightKeys::size() const {
    const std::lock_guard lock{mutex_};
    return live_.size() + holds_;
}

bool InFlightKeys::wait_empty(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    return emptied_.wait_for(lock, limit, [this] { return empty(); });
}

void InFlightKeys::wait_empty() {
    std::unique_lock lock{mutex_};
    emptied_.wait(lock, [this] { return empty(); });
}

}  // namespace pawl::engine
