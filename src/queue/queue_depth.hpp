#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace pawl::queue {

// How many jobs a queue outside the database holds, for operators.
struct QueueDepth {
    std::string queue;
    std::int64_t ready{};    // Due, and may be claimed.
    std::int64_t running{};  // Claimed by a worker.
    std::int64_t later{};    // Delayed, or waiting for a retry.
};

// Dead letters outside the database, by queue.
using DeadCounts = std::map<std::string, std::int64_t>;

}  // namespace pawl::queue
