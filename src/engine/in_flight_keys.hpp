#pragma once

#include "src/engine/answer.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace pawl::engine {

// The keys in flight in this process. The process never takes over a live key of its own. A
// duplicate request attaches to the attempt without a query, or reads the answer from the store:
// another server may have taken the key over and answered, however busy this one's attempt is.
// Thread-safe.
class InFlightKeys {
public:
    struct Entered {};
    struct Occupied {
        // nullopt: unknown, as the fingerprint has an older secret, or as the request differs from
        // the one in flight, which is not confirmed as the key's own.
        std::optional<bool> same_request{};
    };
    // An empty fingerprint: not known.
    std::variant<Entered, Occupied> enter(const std::string& hash, std::string_view fingerprint);
    // The request in flight is the one that the key was made for.
    void confirm(const std::string& hash);

    // Attaches a waiter, who gets the answer of the running attempt; nullopt: the attempt has
    // ended. `until`: when the wait ends.
    std::optional<std::uint64_t> attach(
        const std::string& hash, OnAnswer waiter, std::chrono::steady_clock::time_point until
    );
    // Removes a waiter whose time is over; nullopt: already answered.
    std::optional<OnAnswer> detach(const std::string& hash, std::uint64_t waiter);
    struct Waiter {
        OnAnswer on_answer;
        std::chrono::steady_clock::time_point until;
    };
    // For an attempt that only waits: the waiter who came last takes its place. nullopt: none; the
    // key is released as by remove().
    std::optional<Waiter> hand_over(const std::string& hash);
    // Ends the attempt; returns its waiters. The key is free, but wait_empty() waits until
    // waiters_answered() confirms that the waiters have their answers.
    std::vector<OnAnswer> remove(const std::string& hash);
    void waiters_answered();
    // For a request without a key in flight, which is counted until the last copy is gone.
    std::shared_ptr<void> hold();
    std::size_t size() const;  // Keys and holds.
    // True once size() is 0 and all waiters have their answers; false if that takes longer.
    bool wait_empty(std::chrono::milliseconds limit);
    void wait_empty();

private:
    struct Attached {
        std::uint64_t id{};
        Waiter waiter;
    };
    struct Live {
        std::string fingerprint;
        bool confirmed{false};
        std::vector<Attached> waiters;  // In the order of arrival.
    };
    using LiveMap = std::unordered_map<std::string, Live>;
    LiveMap::iterator entered(const std::string& hash);
    bool empty() const { return live_.empty() && holds_ == 0 && answering_ == 0; }

    mutable std::mutex mutex_;
    std::condition_variable emptied_;
    LiveMap live_;
    std::size_t holds_{0};
    std::uint64_t next_waiter_{1};
    int answering_{0};  // Keys that were left and whose waiters are being answered.
};

}  // namespace pawl::engine
