#include "src/queue/kafka/queue_depth.hpp"

#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/topic_reader.hpp"
#include "src/queue/kafka/topics.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <utility>

namespace pawl::queue::kafka {

namespace {

// Asks with the name of the group whose offsets it reads, and never subscribes.
Handle open_client_of_group(
    const KafkaOptions& options, const std::string& queue, Context& context
) {
    context.log = options.log;
    return open_client(
        Role::consumer,
        options,
        {{"group.id", consumer_group(options, queue)},
         {"enable.auto.commit", "false"},
         {"allow.auto.create.topics", "false"}},
        context,
        [](rd_kafka_conf_t*) {}
    );
}

std::int64_t lag_of(
    rd_kafka_t* handle, const KafkaOptions& options, const std::vector<OffsetRange>& ranges
) {
    if (ranges.empty()) return 0;
    const PartitionList list{rd_kafka_topic_partition_list_new(static_cast<int>(ranges.size()))};
    for (const auto& range : ranges)
        rd_kafka_topic_partition_list_add(
            list.get(), range.partition.topic.c_str(), range.partition.number
        );
    const auto limit = static_cast<int>(options.request_timeout.count());
    const auto error = rd_kafka_committed(handle, list.get(), limit);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw trouble(options, "committed offsets", error);
    std::int64_t records = 0;
    for (int i = 0; i < list->cnt; ++i) {
        const auto& range = ranges[static_cast<std::size_t>(i)];
        // Negative: nothing of the partition was ever committed.
        const auto done = std::max(list->elems[i].offset, range.from);
        records += std::max<std::int64_t>(range.to - done, 0);
    }
    return records;
}

}  // namespace

std::vector<QueueDepth> waiting(const KafkaOptions& options, const std::string& queue) {
    TopicReader reader{options};
    const auto there = reader.topics();
    const auto main = main_topic(options, queue);
    auto topics = worked_topics(options, queue);
    for (auto& old : topics_of_old_layers(options, queue, there)) topics.push_back(std::move(old));
    std::vector<OffsetRange> ready;
    std::vector<OffsetRange> later;
    for (const auto& topic : topics) {
        if (std::find(there.begin(), there.end(), topic) == there.end()) continue;
        auto& ranges = topic == main ? ready : later;
        for (auto& range : reader.extent(topic)) ranges.push_back(std::move(range));
    }
    Context context;
    const auto client = open_client_of_group(options, queue, context);
    return {
        {.queue = queue,
         .ready = lag_of(client.get(), options, ready),
         .later = lag_of(client.get(), options, later)}};
}

std::vector<std::string> missing_topics(
    const KafkaOptions& options, const std::set<std::string, std::less<>>& queues
) {
    const auto there = TopicReader{options}.topics();
    std::vector<std::string> missing;
    for (const auto& queue : queues) {
        auto topic = main_topic(options, queue);
        if (std::find(there.begin(), there.end(), topic) == there.end())
            missing.push_back(std::move(topic));
    }
    return missing;
}

}  // namespace pawl::queue::kafka
