#pragma once

#include "src/queue/kafka/options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The names of topics, and which delay a job waits in:
//
//   pawl.mails                       the queue
//   pawl.mails__rides__retry_10000   its jobs that group "rides" tries again, after 10 s
//   pawl.mails__rides__dlq           and that it tries no more
//
// The group is always in the name: another one reads the same queue and fails by itself.
namespace pawl::queue::kafka {

// 1 to 249 of A-Z a-z 0-9 . _ -, and not "." or "..".
bool is_topic(std::string_view name);

std::string main_topic(const KafkaOptions& options, std::string_view queue);
std::string retry_topic(
    const KafkaOptions& options, std::string_view queue, std::chrono::milliseconds layer
);
std::string dead_topic(const KafkaOptions& options, std::string_view queue);
// Main and retry topics: what a worker of the queue reads.
std::vector<std::string> worked_topics(const KafkaOptions& options, std::string_view queue);
// Those of `there` that are retry topics of the queue and of no layer of the options: of one that
// was taken away, and jobs may wait in it.
std::vector<std::string> topics_of_old_layers(
    const KafkaOptions& options, std::string_view queue, const std::vector<std::string>& there
);
// Nothing if it is no dead-letter topic of this prefix and group.
std::optional<std::string> queue_of_dead_topic(const KafkaOptions& options, std::string_view topic);

// Members of one Kafka group that subscribe to different topics disturb each other at each
// rebalance: each queue has a group of its own, GROUP.QUEUE.
std::string consumer_group(const KafkaOptions& options, std::string_view queue);

// The longest delay that is not longer than the wait, else the shortest. Not the next longer one:
// waits are a layer and a little more, so that jobs do not come in one wave, and would all wait
// among those of the next layer. When a job is due, its own header says.
std::chrono::milliseconds layer_for(
    const std::vector<std::chrono::milliseconds>& layers, std::chrono::milliseconds wait
);

}  // namespace pawl::queue::kafka
