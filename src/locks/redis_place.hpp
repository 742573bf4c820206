#pragma once

#include "src/locks/place.hpp"
#include "src/redis/client.hpp"

#include <memory>
#include <string>

namespace pawl::locks {

// In the hashes pawl:lease:NAME, by script, by Redis' clock. They never expire, as their epochs
// must not be given again. An epoch is the time in microseconds, or one more than the last if that
// is higher: a Redis that lost them all gives none again either, unless its clock was put back too.
class RedisPlace final : public Place {
public:
    explicit RedisPlace(std::unique_ptr<redis::Client> client) : client_{std::move(client)} {}
    core::LeaseChoice take(
        std::string_view name, std::string_view holder, std::chrono::milliseconds ttl
    ) override;
    bool extend(
        std::string_view name,
        std::int64_t epoch,
        std::string_view holder,
        std::chrono::milliseconds ttl
    ) override;
    void give_back(std::string_view name, std::string_view holder) override;
    // Asks Redis for its settings at this moment (PAWL0030).
    std::optional<std::string> fence_problem() override;

private:
    std::unique_ptr<redis::Client> client_;
};

// Throws std::invalid_argument for a URL that is none. Connects when it is first used.
std::unique_ptr<Place> redis_place(const std::string& url);

}  // namespace pawl::locks
