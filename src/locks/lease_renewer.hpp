#pragma once

#include "src/base/clock.hpp"
#include "src/locks/lease_backend.hpp"

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

// A lease held by this process. The renewer's mutex guards what changes.
struct Held {
    std::string name;
    std::string holder;
    std::int64_t epoch{};
    std::chrono::milliseconds ttl{};
    core::SteadyTime end;       // From here on it counts as lost.
    core::SteadyTime renew_at;  // Time of the next try.
    bool over{false};           // Lost, or released.
    bool released{false};
    std::stop_source lost{};
};

// Renews the leases of one backend on a thread that may block, and reports lost leases on another
// thread that never blocks. is_held() asks neither clock nor backend.
class LeaseRenewer {
public:
    // Both outlive it. Throws std::system_error if no thread can be made.
    LeaseRenewer(LeaseBackend& backend, base::Clock& clock);
    ~LeaseRenewer();
    LeaseRenewer(const LeaseRenewer&) = delete;
    LeaseRenewer& operator=(const LeaseRenewer&) = delete;

    // Starts renewing; `asked_at`: when the request that took the lease began.
    void keep(std::shared_ptr<Held> held, core::SteadyTime asked_at);
    // Ends renewals and reports. Returns whether it was held until now; nullopt: let go before.
    std::optional<bool> released(Held& held);
    bool is_held(const Held& held);

private:
    void stop() noexcept;
    // Sets its times, of a request that was begun at `asked_at`; under the mutex.
    static void count_from(Held& held, core::SteadyTime asked_at);
    void renew(const std::shared_ptr<Held>& held);
    void lose(const std::shared_ptr<Held>& held);
    // The lease whose `time` comes first, once that has come; null when stopping.
    std::shared_ptr<Held> wait_for_first(core::SteadyTime Held::*time);

    LeaseBackend& backend_;
    base::Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unordered_set<std::shared_ptr<Held>> held_;
    bool stopping_{false};
    std::thread renewing_;
    std::thread watching_;
};

}  // namespace pawl::locks
