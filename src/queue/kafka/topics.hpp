#pragma once

#include "src/queue/kafka/options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The names of topics, and the choice of a retry delay:
//
//   pawl.mails                       the queue
//   pawl.mails__rides__retry_10000   jobs that group "rides" retries after 10 s
//   pawl.mails__rides__dlq           dead letters of group "rides"
//
// The group is part of the name, as another group may read the same queue and has failures of its
// own.
namespace pawl::queue::kafka {

// 1 to 249 of A-Z a-z 0-9 . _ -, and not "." or "..".
bool is_topic(std::string_view name);

std::string main_topic(const KafkaOptions& options, std::string_view queue);
std::string retry_topic(
    const KafkaOptions& options, std::string_view queue, std::chrono::milliseconds layer
);
std::string dead_topic(const KafkaOptions& options, std::string_view queue);
// The main and the retry topics: what a worker of the queue reads.
std::vector<std::string> worked_topics(const KafkaOptions& options, std::string_view queue);
// The retry topics in `there` of layers that are no longer in the options; jobs may wait in them.
std::vector<std::string> topics_of_old_layers(
    const KafkaOptions& options, std::string_view queue, const std::vector<std::string>& there
);
// nullopt: not a dead-letter topic of this prefix and group.
std::optional<std::string> queue_of_dead_topic(const KafkaOptions& options, std::string_view topic);

// Members of one Kafka group that subscribe to different topics disturb each other at each
// rebalance, so each queue has its own group, GROUP.QUEUE.
std::string consumer_group(const KafkaOptions& options, std::string_view queue);

// The longest layer that is not longer than `wait`, or the shortest. Not the next longer one: waits
// have a random part on top of a layer, and all jobs would wait in the topic of the next layer. The
// job's header says when it is due.
std::chrono::milliseconds layer_for(
    const std::vector<std::chrono::milliseconds>& layers, std::chrono::milliseconds wait
);

}  // namespace pawl::queue::kafka
