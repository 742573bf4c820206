#pragma once

#include "src/base/clock.hpp"
#include "src/locks/place.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_set>

namespace pawl::locks {

// A lease in this process' hands. What changes is the keeper's, under its mutex.
struct Held {
    std::string name;
    std::string holder;
    std::int64_t epoch{};
    std::chrono::milliseconds ttl{};
    core::SteadyTime end;       // From here on it counts as lost.
    core::SteadyTime renew_at;  // The next try.
    bool over{false};           // Lost, or given back.
    bool let_go{false};
    std::stop_source lost{};
};

// Renews the leases of one place, on a thread that may have to wait for the place; and tells when
// one is lost, on another that never waits. Neither clock nor place is asked whether a lease is
// held.
class Keeper {
public:
    // Both outlive it. Throws std::system_error where no thread is to be had.
    Keeper(Place& place, base::Clock& clock);
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    // Taken by a request that was begun at `asked_at`.
    void keep(std::shared_ptr<Held> held, core::SteadyTime asked_at);
    // Not renewed any more, and not told of either. Whether it was held until now; nothing if it
    // was let go before.
    std::optional<bool> let_go(Held& held);
    bool is_held(const Held& held);

private:
    void stop() noexcept;
    void renew_all();
    void renew(const std::shared_ptr<Held>& held);
    void lose(const std::shared_ptr<Held>& held);
    void watch_all();
    // The one that comes first by this time of its, once that is there; null at the end.
    std::shared_ptr<Held> wait_for_first(core::SteadyTime Held::*time);

    Place& place_;
    base::Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unordered_set<std::shared_ptr<Held>> held_;
    bool stopping_{false};
    std::thread renewing_;
    std::thread watching_;
};

}  // namespace pawl::locks
