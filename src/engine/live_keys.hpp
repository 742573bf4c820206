#pragma once

#include "src/engine/answer.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace pawl::engine {

// The keys that this process has in its hands. A duplicate of one is busy, or attaches to it,
// without touching the store; and the process never takes over a key of its own that lives.
// Thread-safe.
class LiveKeys {
public:
    struct Entered {};
    struct Occupied {
        // Nothing: not known, as the key's fingerprint has an older secret; or as it is another
        // request than the one in hand, of which is not known either whether it is the key's.
        std::optional<bool> same_request{};
        // Since when; nothing: not known, as it may only be looking for an answer.
        std::optional<std::chrono::steady_clock::time_point> at_work_since{};
    };
    // An empty fingerprint: not known.
    std::variant<Entered, Occupied> enter(
        const std::string& hash,
        std::string_view fingerprint,
        std::chrono::steady_clock::time_point now
    );
    // Whoever entered has the key, and makes its call: it has no answer before the call has ended.
    void at_work(const std::string& hash, bool is = true);

    // The request in hand is that of the key's row: another one is not, from now on.
    void confirm(const std::string& hash);

    // Adds a waiter who gets what the attempt at work ends with; nothing if the key was left
    // meanwhile. `until`: when its time is over.
    std::optional<std::uint64_t> attach(
        const std::string& hash, OnAnswer waiter, std::chrono::steady_clock::time_point until
    );
    // Takes a waiter back whose time is over; nothing if it has been answered.
    std::optional<OnAnswer> detach(const std::string& hash, std::uint64_t waiter);
    struct Waiter {
        OnAnswer on_answer;
        std::chrono::steady_clock::time_point until;
    };
    // For an attempt that only waits itself: the waiter who came last takes its place. Nothing if
    // there is none: then the key is left, as by leave().
    std::optional<Waiter> hand_over(const std::string& hash);
    // The attempt is over; returns those who waited for it. The key is free, but it counts for
    // wait_empty() until told() says that they have their answers.
    std::vector<OnAnswer> leave(const std::string& hash);
    void told();
    std::size_t size() const;
    // True once there is none, and all have been told; false if that takes longer.
    bool wait_empty(std::chrono::milliseconds limit);
    void wait_empty();

private:
    struct Attached {
        std::uint64_t id{};
        Waiter waiter;
    };
    struct Live {
        std::string fingerprint;
        std::chrono::steady_clock::time_point entered;
        bool confirmed{false};
        bool at_work{false};
        std::vector<Attached> waiters;  // In the order in which they came.
    };
    bool empty() const { return live_.empty() && telling_ == 0; }

    mutable std::mutex mutex_;
    std::condition_variable emptied_;
    std::unordered_map<std::string, Live> live_;
    std::uint64_t next_waiter_{1};
    int telling_{0};  // Left, and their answers on the way.
};

}  // namespace pawl::engine
