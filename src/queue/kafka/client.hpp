#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>

#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct rd_kafka_s;
struct rd_kafka_conf_s;
struct rd_kafka_message_s;
struct rd_kafka_topic_partition_list_s;

namespace pawl::queue::kafka {

struct DestroyHandle {
    void operator()(rd_kafka_s* handle) const;
};
using Handle = std::unique_ptr<rd_kafka_s, DestroyHandle>;

struct DestroyPartitions {
    void operator()(rd_kafka_topic_partition_list_s* list) const;
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_s, DestroyPartitions>;

// What a handle's callbacks reach: it outlives the handle.
struct Context {
    KafkaLog log;
    void* owner{};
    std::function<void(int error, std::string_view text)> on_error;  // On the thread that polls.
};

using Settings = std::vector<std::pair<std::string, std::string>>;
enum class Role { producer, consumer };

// A client of librdkafka. `settings` come before the options' own. Throws std::invalid_argument for
// a setting that librdkafka does not take.
Handle open_client(
    Role role,
    const KafkaOptions& options,
    const Settings& settings,
    Context& context,
    detail::FunctionRef<void(rd_kafka_conf_s*)> prepare
);

Record record_of(const rd_kafka_message_s& message);

// Says which brokers, what was tried and librdkafka's word; with the code of its page.
StoreError trouble(const KafkaOptions& options, std::string_view what, std::string_view why);
StoreError trouble(const KafkaOptions& options, std::string_view what, int error);
StoreError in_doubt(const KafkaOptions& options, std::string_view what, std::string_view why);

// Of a topic's partitions, as the brokers say; asking makes the topic where they make topics by
// themselves. Throws StoreError.
int partition_count(rd_kafka_s* handle, const KafkaOptions& options, const std::string& topic);
std::vector<std::string> topic_names(rd_kafka_s* handle, const KafkaOptions& options);

struct Watermarks {
    std::int64_t low{};
    std::int64_t high{};  // Of the next record.
};
Watermarks watermarks(rd_kafka_s* handle, const KafkaOptions& options, const Partition& partition);

// Topics and how many partitions they are to have; -1: the brokers' default.
using Wanted = std::vector<std::pair<std::string, int>>;
// Makes those that are not there, and logs it where the brokers refuse or know no such request:
// then their own making of topics, or an operator's, must do. Throws StoreError if none answers.
void create_topics(rd_kafka_s* handle, const KafkaOptions& options, Wanted wanted);

}  // namespace pawl::queue::kafka
