#pragma once

#include "src/base/clock.hpp"
#include "src/base/timers.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pawl::engine {

// Attempts that wait for a key that another process holds (wait(max)). They hold no thread and no
// connection. While there are any, one query each `every` finds those whose wait has ended; a store
// with notices reports them at once. Thread-safe.
class Waiters {
public:
    enum class Woken {
        retry_claim,  // The key was finished, released, lost, or is gone: claim it.
        too_late,     // The time is over.
        stopping
    };
    using Wake = std::function<void(Woken)>;  // Called once, from any thread.

    struct Options {
        std::chrono::milliseconds every;
        std::size_t keys_max;
        std::chrono::milliseconds lease;
    };
    // All outlive this object.
    Waiters(store::Store& store, base::Clock& clock, base::Timers& timers, Options options)
        : store_{store}, clock_{clock}, timers_{timers}, options_{options} {}

    enum class Parked { waits, too_many, stopping };
    // Only `waits` keeps the wake. At most one attempt for each key.
    Parked park(
        const std::string& hash, std::chrono::steady_clock::time_point until, const Wake& wake
    );
    // Wakes all, and accepts no more.
    void stop();
    // After stop(): waits until no query, park() or notice is in progress.
    void finish();
    std::size_t size() const;

private:
    struct Entry {
        std::uint64_t id{};  // Distinguishes one stay of a key from the next.
        Wake wake;
    };
    struct Seen {
        std::string hash;
        std::uint64_t id{};
    };
    struct Poll {
        std::vector<Seen> asked;
        std::vector<std::string> held;  // The result, sorted.
    };
    void end_parking();
    void listen();
    void on_notice(std::string_view hash);
    void on_late(const Seen& seen);
    void plan_poll();
    void poll();
    std::shared_ptr<Poll> begin_poll();
    void run_poll(const std::shared_ptr<Poll>& poll);
    void on_polled(const Poll& poll);
    Wake take(const Seen& seen);

    store::Store& store_;
    base::Clock& clock_;
    base::Timers& timers_;
    const Options options_;

    mutable std::mutex mutex_;
    std::condition_variable looked_;
    std::unordered_map<std::string, Entry> waiting_;
    std::uint64_t next_id_{1};
    int parking_{0};          // Calls of park() in progress.
    bool planned_{false};     // A query is scheduled.
    bool polling_{false};     // A query is in progress.
    bool look_again_{false};  // Notices may have been lost meanwhile.
    bool stopping_{false};
    bool listens_{false};
    std::unique_ptr<store::Listening> listening_;
};

}  // namespace pawl::engine
