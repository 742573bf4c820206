#pragma once

#include <pawl/job.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::queue {

using namespace std::chrono_literals;

// Receives librdkafka's log lines, on its threads; must be quick and must not throw.
using KafkaLog = std::function<void(std::string_view text)>;

struct KafkaOptions {
    // host:port,host:port: the first ones to ask; the cluster names the rest.
    std::string brokers{};
    std::string prefix{"pawl"};  // The topic of queue NAME is PREFIX.NAME.
    // The consumer group; part of the names of its retry and dead-letter topics.
    std::string group{"pawl"};
    // One retry topic each, ascending. Use the worker's own layers. Otherwise a job waits in a
    // topic of another delay: never too short, but behind others.
    std::vector<std::chrono::milliseconds> layers{default_retry_layers()};
    // A member that is silent for this long loses its partitions. Kafka's default since 3.0.
    std::chrono::milliseconds session_timeout{45s};
    std::chrono::milliseconds request_timeout{10s};  // How long to wait for the answer to a record.
    std::chrono::milliseconds fetch_wait{100ms};     // How long a broker waits for new records.
    std::chrono::milliseconds claim_wait{100ms};     // How long claim() waits if nothing is due.
    int hold_max{1'000};  // Records held of one partition; reading it pauses beyond.
    // Limit of a pushed record, bytes. Below the brokers' message.max.bytes (1,048,588) by what
    // retries add: the history and the last error, at most 40,000.
    int message_max{900'000};
    // For topics that it creates; -1: the brokers' default. Kafka creates no topic with more
    // replicas than it has brokers.
    int partitions{-1};
    int replication{-1};
    // Further settings of librdkafka, by its own names, for example security.protocol.
    std::vector<std::pair<std::string, std::string>> settings{};
    KafkaLog log{};

    std::optional<std::string> problem() const;
};

// "kafka://host[:port][,host...][/PREFIX]?group=NAME&security.protocol=SASL_SSL&...": group is
// Pawl's parameter, all others are librdkafka's. Values may contain %XX. Throws
// std::invalid_argument for any other URL; limits are checked by problem().
KafkaOptions kafka_options_of_url(const std::string& url, KafkaOptions defaults = {});

}  // namespace pawl::queue
