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

// A part of a partition: from the first offset to before the second.
struct Stretch {
    Partition partition;
    std::int64_t from{};
    std::int64_t to{};
};

// Reads what is in topics, apart from any group: nobody's work is touched. From any thread, one at
// a time; the others wait. Throws StoreError.
class TopicReader {
public:
    explicit TopicReader(KafkaOptions options);

    std::vector<std::string> topics();
    // All that a topic holds at this moment, a stretch a partition; none for a topic that is none.
    std::vector<Stretch> extent(const std::string& topic);
    // Each record of the stretches, in the order of a partition's offsets. Records that its broker
    // has removed meanwhile are left out.
    void read(const std::vector<Stretch>& stretches, const std::function<void(Record)>& each);

private:
    rd_kafka_s* handle();

    KafkaOptions options_;
    std::mutex mutex_;
    Context context_;
    Handle handle_;  // Made when it is first needed.
};

}  // namespace pawl::queue::kafka
