#pragma once

#include <pawl/lease.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/locks/lease_backend.hpp"
#include "src/locks/lease_renewer.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace pawl::locks {

// The implementation of Leases: a backend, and the leases that this process holds there. Shared by
// the Leases and each of its leases, so that they may end in any order.
class LeaseTable {
public:
    enum class Gives { tokens, no_tokens };
    // Clock and random outlive it.
    LeaseTable(
        std::unique_ptr<LeaseBackend> backend, Gives gives, base::Clock& clock, base::Random& random
    );

    std::shared_ptr<Held> try_acquire(std::string_view name, const LeaseOptions& options);
    std::shared_ptr<Held> acquire(
        std::string_view name,
        std::chrono::milliseconds wait,
        const LeaseOptions& options,
        const std::stop_token& stop
    );
    bool is_held(const Held& held) { return renewer_.is_held(held); }
    bool release(Held& held) noexcept;
    // Throws StoreError if the leases should fence and can't.
    void check_gives_tokens();

private:
    struct Try {
        std::shared_ptr<Held> held;               // Null: another holder has it,
        std::chrono::milliseconds lease_left{0};  // for this long.
    };
    Try acquire(std::string_view name, const std::string& holder, const LeaseOptions& options);
    // False if the backend was not reached: the lease then ends by time.
    bool release(std::string_view name, std::string_view holder) noexcept;

    std::unique_ptr<LeaseBackend> backend_;
    Gives gives_;
    base::Clock& clock_;
    base::Random& random_;
    std::mutex waiting_;
    std::condition_variable_any stopped_;  // Only a stop request wakes it.
    LeaseRenewer renewer_;
};

}  // namespace pawl::locks
