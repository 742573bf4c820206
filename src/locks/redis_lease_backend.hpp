#pragma once

#include "src/locks/lease_backend.hpp"
#include "src/redis/client.hpp"

#include <memory>
#include <string>

namespace pawl::locks {

// Keeps leases in the hashes pawl:lease:NAME, by scripts and Redis' clock. They never expire, so
// that no epoch is given twice. An epoch is the time in microseconds, or the last one plus one if
// that is higher: even after losing all data Redis gives none twice, unless its clock went back,
// too.
class RedisLeaseBackend final : public LeaseBackend {
public:
    explicit RedisLeaseBackend(std::unique_ptr<redis::Client> client)
        : client_{std::move(client)} {}
    core::LeaseChoice acquire(
        std::string_view name, std::string_view holder, std::chrono::milliseconds ttl
    ) override;
    bool extend(
        std::string_view name,
        std::int64_t epoch,
        std::string_view holder,
        std::chrono::milliseconds ttl
    ) override;
    void release(std::string_view name, std::string_view holder) override;
    // Reads Redis' settings now (PAWL0030).
    std::optional<std::string> fence_problem() override;

private:
    std::unique_ptr<redis::Client> client_;
};

// Throws std::invalid_argument for a malformed URL. Connects on first use.
std::unique_ptr<LeaseBackend> redis_lease_backend(const std::string& url);

}  // namespace pawl::locks
