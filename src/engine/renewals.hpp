#pragma once

#include "src/base/clock.hpp"
#include "src/base/timers.hpp"
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
    // `leased_at`: when the lease was last written. Returns the key's id, for end().
    std::int64_t begin(Held held, std::chrono::steady_clock::time_point leased_at);
    void end(std::int64_t key_id);

private:
    struct Entry {
        Held held;
        std::chrono::steady_clock::time_point renewed_at;
        // The last renewal failed: the next tick tries again. Shared with writes that may outlive
        // us.
        std::shared_ptr<std::atomic<bool>> failed;
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
