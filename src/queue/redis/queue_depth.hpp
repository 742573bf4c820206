#pragma once

#include "src/queue/queue_depth.hpp"
#include "src/redis/client.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pawl::queue::sidekiq {

// The queues that Redis knows, and those of `own` in any case. Delayed jobs of all queues are in
// two common sets, which get entries of their own if they are not empty. Throws StoreError.
std::vector<QueueDepth> waiting(
    redis::Client& client, const std::set<std::string, std::less<>>& own
);

}  // namespace pawl::queue::sidekiq
