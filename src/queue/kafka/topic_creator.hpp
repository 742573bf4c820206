#pragma once

#include "src/queue/kafka/options.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

struct rd_kafka_s;
struct rd_kafka_queue_s;

namespace pawl::queue::kafka {

// Topics and their numbers of partitions; -1: the brokers' default.
using Wanted = std::vector<std::pair<std::string, int>>;

// Creates topics without blocking: the thread that asks also reads records, and a cluster that has
// lost its controller still serves records. Used by one thread; ends before its handle.
class TopicCreator {
public:
    TopicCreator(rd_kafka_s* handle, const KafkaOptions& options);
    ~TopicCreator();
    TopicCreator(const TopicCreator&) = delete;
    TopicCreator& operator=(const TopicCreator&) = delete;

    // Asks the brokers for these topics, unless an answer is still awaited. Throws StoreError for a
    // topic that librdkafka refuses.
    void request(const Wanted& missing);
    bool waiting() const;  // For an answer.
    // True once after each request: the brokers have answered, or the request timed out. What was
    // not created is logged, the same text once; then the brokers or an operator must create it.
    bool answered();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue::kafka
