#pragma once

#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace pawl::queue::kafka {

// A part of a partition: from the first offset up to, but excluding, the second.
struct OffsetRange {
    Partition partition;
    std::int64_t from{};
    std::int64_t to{};
};

// Reads topics outside of any group, so that no consumer is disturbed. Thread-safe; calls wait for
// each other. Throws StoreError.
class TopicReader {
public:
    explicit TopicReader(KafkaOptions options);

    std::vector<std::string> topics();
    // All that a topic holds now, one range for each partition; empty for an unknown topic.
    std::vector<OffsetRange> extent(const std::string& topic);
    // Calls `each` for each record of the ranges, by offset within a partition. Skips records
    // that the broker has deleted meanwhile.
    void read(const std::vector<OffsetRange>& ranges, const std::function<void(Record)>& each);

private:
    rd_kafka_s* handle();

    KafkaOptions options_;
    std::mutex mutex_;
    Context context_;
    Handle handle_;  // Created on first use.
};

}  // namespace pawl::queue::kafka
