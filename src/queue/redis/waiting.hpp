#pragma once

#include "src/queue/redis/client.hpp"
#include "src/queue/waiting.hpp"

#include <string>
#include <vector>

namespace pawl::queue::redis {

// The queues that Redis knows, and `own` in any case. Delayed jobs of all queues are in two common
// sets, which get entries of their own if they are not empty. Throws StoreError.
std::vector<Waiting> waiting(Client& client, const std::string& own);

}  // namespace pawl::queue::redis
