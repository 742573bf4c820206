#pragma once

#include <pawl/detail/session.hpp>

#include "src/redis/client.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace pawl::queue::sidekiq {

// Where a job was found in Redis (scripts.hpp: the keys), and its stored form.
struct FoundJob {
    enum class Place {
        work,  // Claimed by a worker.
        set,   // Waits for its time in `schedule` or `retry`.
        list   // Due.
    };
    Place place{};
    std::string key{};
    std::string queue{};                     // Empty in a set: the payload names it.
    std::string token{};                     // In work only.
    std::optional<TimePoint> lease_until{};  // In work only.
    std::optional<TimePoint> due{};          // In a set only.
    std::int64_t list_length{};              // In a list only: what its removal costs Redis.
    std::string payload{};
};

// Calls f with each job of these queues, and of all that Redis knows, until f returns false. Reads
// about a hundred jobs at a time. In the order in which jobs move (work, sets, lists, work again),
// so that a job that becomes due or is claimed meanwhile is found; it may be found twice. A job
// that is claimed and fails meanwhile may be missed. Blocks; throws StoreError.
void each_job(
    redis::Client& client,
    const std::set<std::string, std::less<>>& own,
    const std::function<bool(FoundJob job)>& f
);

}  // namespace pawl::queue::sidekiq
