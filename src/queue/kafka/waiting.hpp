#pragma once

#include "src/queue/kafka/options.hpp"
#include "src/queue/waiting.hpp"

#include <string>
#include <vector>

namespace pawl::queue::kafka {

// Records of the queue's topics behind the offsets that its group has committed, those in flight
// included. Joins no group and makes no topic, so no member is disturbed. Throws StoreError.
std::vector<Waiting> waiting(const KafkaOptions& options, const std::string& queue);

}  // namespace pawl::queue::kafka
