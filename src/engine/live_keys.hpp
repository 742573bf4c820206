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

// The keys that this process has in its hands. A duplicate of one is busy, or attaches to it, without touching the
// store; and the process never takes over a key of its own that lives. Thread-safe.
class LiveKeys {
public:
    struct Entered {};
    struct Occupied {
        std::optional<bool> same_request{};  // Nothing: not known, as the key's fingerprint has an older secret.
    };
    // An empty fingerprint: not known.
    std::variant<Entered, Occupied> enter(const std::string& hash, std::string_view fingerprint);

    // Adds a waiter who gets what the attempt at work ends with; nothing if the key was left meanwhile.
    std::optional<std::uint64_t> attach(const std::string& hash, OnAnswer waiter);
    // Takes a waiter back whose time is over; nothing if it has been answered.
    std::optional<OnAnswer> detach(const std::string& hash, std::uint64_t waiter);
    // The attempt is over; returns those who waited for it.
    std::vector<OnAnswer> leave(const std::string& hash);
    std::size_t size() const;
    // True once there is none; false if that takes longer.
    bool wait_empty(std::chrono::milliseconds limit);

private:
    struct Waiter {
        std::uint64_t id;
        OnAnswer on_answer;
    };
    struct Live {
        std::string fingerprint;
        std::vector<Waiter> waiters;
    };
    mutable std::mutex mutex_;
    std::condition_variable emptied_;
    std::unordered_map<std::string, Live> live_;
    std::uint64_t next_waiter_{1};
};

}  // namespace pawl::engine
