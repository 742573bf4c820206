#pragma once

#include "src/queue/kafka/options.hpp"
#include "src/queue/queue_depth.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pawl::queue::kafka {

// Counts the records of the queue's topics after the group's committed offsets, those in flight
// included. Joins no group and creates no topic. Throws StoreError.
std::vector<QueueDepth> waiting(const KafkaOptions& options, const std::string& queue);

// The main topics of these queues that the brokers do not have yet. Retry and dead-letter topics
// come with the first job that needs them. Throws StoreError.
std::vector<std::string> missing_topics(
    const KafkaOptions& options, const std::set<std::string, std::less<>>& queues
);

}  // namespace pawl::queue::kafka
