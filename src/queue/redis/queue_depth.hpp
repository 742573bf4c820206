#pragma once

#include "src/queue/queue_depth.hpp"
#include "src/redis/client.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pawl::queue::sidekiq {

// The names of queues: those of `own`, and up to a thousand that Redis knows. Throws StoreError.
std::set<std::string, std::less<>> known_queues(
    redis::Client& client, std::set<std::string, std::less<>> own
);

// The queues that Redis knows, and those of `own` in any case. Delayed jobs of all queues are in
// two common sets, which get entries of their own if they are not empty. Throws StoreError.
std::vector<QueueDepth> waiting(
    redis::Client& client, const std::set<std::string, std::less<>>& own
);

// Of all queues together, as "all queues": they share one set. Throws StoreError.
DeadCounts dead_counts(redis::Client& client);

}  // namespace pawl::queue::sidekiq
