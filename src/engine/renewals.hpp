#pragma once

#include "src/base/clock.hpp"
#include "src/base/timers.hpp"
#include "src/core/call_rule.hpp"
#include "src/store/store.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace pawl::engine {

// Renews the leases of keys whose foreign call is in flight, after a third of a lease's life. Not
// during phases, so that a hanging phase loses its key. Each renewal is fenced: if it touches no
// row, the lease is lost.
class Renewals {
public:
    Renewals(
        store::Store& store,
        base::Clock& clock,
        base::Timers& timers,
        std::chrono::milliseconds lease
    );

    struct Held {
        std::int64_t key_id{};
        int attempt{};
        std::string recovery_point;
    };
    // Whether the lease of a call lasts, by what the database has confirmed and by this process's
    // clocks: not after a pause of the process or the machine. Thread-safe.
    class Lease {
    public:
        Lease(base::Clock& clock, core::Moment taken, std::chrono::milliseconds length)
            : clock_{clock}, length_{length}, taken_{taken} {}
        bool lasts() const;

    private:
        friend class Renewals;
        void renewed(core::Moment at);

        base::Clock& clock_;
        const std::chrono::milliseconds length_;
        mutable std::mutex mutex_;
        core::Moment taken_;
    };
    // `leased`: when the lease was last written.
    std::shared_ptr<const Lease> begin(Held held, core::Moment leased);
    void end(std::int64_t key_id);

private:
    struct Entry {
        Held held;
        std::chrono::steady_clock::time_point asked_at;
        // Shared with writes that may outlive us. The last renewal failed: the next tick tries
        // again.
        std::shared_ptr<std::atomic<bool>> failed;
        std::shared_ptr<Lease> lease;
    };
    void tick();
    void renew(const Entry& entry);

    store::Store& store_;
    base::Clock& clock_;
    base::Timers& timers_;
    const std::chrono::milliseconds lease_;
    std::mutex mutex_;
    std::unordered_map<std::int64_t, Entry> held_;  // By key.
    bool ticking_{false};
};

}  // namespace pawl::engine
