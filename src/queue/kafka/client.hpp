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

// What a handle's callbacks use; outlives the handle.
struct Context {
    KafkaLog log;
    void* owner{};
    // Called on the thread that polls.
    std::function<void(int error, std::string_view text)> on_error;
};

using Settings = std::vector<std::pair<std::string, std::string>>;
enum class Role { producer, consumer };

// Creates a client of librdkafka. The entries of options.settings override `settings`. Throws
// std::invalid_argument for a setting that librdkafka refuses.
Handle open_client(
    Role role,
    const KafkaOptions& options,
    const Settings& settings,
    Context& context,
    detail::FunctionRef<void(rd_kafka_conf_s*)> prepare
);

Record record_of(const rd_kafka_message_s& message);

// The text names the brokers, what was tried and librdkafka's error, with the PAWL code.
StoreError trouble(const KafkaOptions& options, std::string_view what, std::string_view why);
StoreError trouble(const KafkaOptions& options, std::string_view what, int error);
StoreError in_doubt(const KafkaOptions& options, std::string_view what, std::string_view why);

// The number of partitions that the brokers report; 0: no such topic. The request creates the topic
// where brokers create topics automatically. Throws StoreError.
int partition_count(rd_kafka_s* handle, const KafkaOptions& options, const std::string& topic);
std::vector<std::string> topic_names(rd_kafka_s* handle, const KafkaOptions& options);

struct Watermarks {
    std::int64_t low{};
    std::int64_t high{};  // The offset of the next record.
};
Watermarks watermarks(rd_kafka_s* handle, const KafkaOptions& options, const Partition& partition);

}  // namespace pawl::queue::kafka
