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

// What librdkafka says of its connections, from threads of its own; quick, and it throws nothing.
using KafkaLog = std::function<void(std::string_view text)>;

struct KafkaOptions {
    std::string
        brokers{};  // host:port,host:port: the first ones to ask; the cluster names the rest.
    std::string prefix{"pawl"};  // The topic of queue NAME is PREFIX.NAME.
    std::string group{"pawl"};   // Whose jobs these are: in the names of retry and dead topics.
    // One retry topic each, ascending. Those of the worker, or a job waits in a topic that is not
    // meant for its delay: never early, but behind others.
    std::vector<std::chrono::milliseconds> layers{default_retry_layers()};
    // A member that is silent for this long loses its partitions. As Kafka's own default since 3.0.
    std::chrono::milliseconds session_timeout{45s};
    std::chrono::milliseconds request_timeout{10s};  // Until a broker has answered a record.
    std::chrono::milliseconds fetch_wait{100ms};     // A broker waits this long for new records.
    std::chrono::milliseconds take_wait{100ms};      // take() does, where nothing is due.
    int hold_max{1'000};  // Records of one partition in hand; it is paused meanwhile.
    // Of a pushed record, bytes. Less than the brokers' message.max.bytes (1,048,588) by what
    // retries add to it: its history and its last error, at most 40,000.
    int message_max{900'000};
    // Of topics that it makes; -1: the brokers' default. Kafka makes none with replicas that it has
    // no brokers for.
    int partitions{-1};
    int replication{-1};
    // Further settings of librdkafka, by its own names, as security.protocol.
    std::vector<std::pair<std::string, std::string>> settings{};
    KafkaLog log{};

    std::optional<std::string> problem() const;
};

// "kafka://host[:port][,host...][/PREFIX]?group=NAME&security.protocol=SASL_SSL&...": group is
// ours, all other parameters are librdkafka's. Values may have %XX. Throws std::invalid_argument
// for a URL that is none; what is out of its limits, problem() says.
KafkaOptions kafka_options_of_url(const std::string& url, KafkaOptions unless_said = {});
bool is_kafka_url(std::string_view url);

}  // namespace pawl::queue
