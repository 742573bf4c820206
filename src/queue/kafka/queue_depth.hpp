#pragma once

#include "src/queue/kafka/options.hpp"
#include "src/queue/queue_depth.hpp"

#include <string>
#include <vector>

namespace pawl::queue::kafka {

// Counts the records of the queue's topics after the group's committed offsets, those in flight
// included. Joins no group and creates no topic. Throws StoreError.
std::vector<QueueDepth> waiting(const KafkaOptions& options, const std::string& queue);

}  // namespace pawl::queue::kafka
