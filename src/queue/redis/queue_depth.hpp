#pragma once

#include "src/queue/queue_depth.hpp"
#include "src/redis/client.hpp"

#include <string>
#include <vector>

namespace pawl::queue::sidekiq {

// The queues that Redis knows, and `own` in any case. Delayed jobs of all queues are in two common
// sets, which get entries of their own if they are not empty. Throws StoreError.
std::vector<QueueDepth> waiting(redis::Client& client, const std::string& own);

}  // namespace pawl::queue::sidekiq
