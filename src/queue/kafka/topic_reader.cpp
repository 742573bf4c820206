#include "src/queue/kafka/topic_reader.hpp"

#include "src/queue/kafka/destroy.hpp"

#include <librdkafka/rdkafka.h>

#include <map>
#include <memory>
#include <utility>

namespace pawl::queue::kafka {

namespace {

// librdkafka reconnects by itself; if it cannot, the time-out ends the read.
bool is_transient(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
}

// The partitions that remain to be read, and up to which offset.
class RemainingOffsets {
public:
    explicit RemainingOffsets(const std::vector<OffsetRange>& ranges) {
        for (const auto& range : ranges)
            if (range.from < range.to) to_[range.partition] = range.to;
    }
    bool any() const { return !to_.empty(); }
    // Whether the record at that offset is wanted; past the last one the partition is finished.
    bool wants(const Partition& partition, std::int64_t offset) {
        const auto at = to_.find(partition);
        if (at == to_.end()) return false;
        const bool wanted = offset < at->second;
        if (offset + 1 >= at->second) to_.erase(at);
        return wanted;
    }
    void is_over(const Partition& partition) { to_.erase(partition); }

private:
    std::map<Partition, std::int64_t> to_;
};

// Undoes assign() on every path.
class Assignment {
public:
    Assignment(
        rd_kafka_t* handle, const KafkaOptions& options, const std::vector<OffsetRange>& ranges
    )
        : handle_{handle} {
        const PartitionList list{
            rd_kafka_topic_partition_list_new(static_cast<int>(ranges.size()))};
        for (const auto& [partition, from, to] : ranges)
            if (from < to)
                rd_kafka_topic_partition_list_add(
                    list.get(), partition.topic.c_str(), partition.number
                )
                    ->offset = from;
        const auto error = rd_kafka_assign(handle, list.get());
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw trouble(options, "reading topics", error);
    }
    ~Assignment() { rd_kafka_assign(handle_, nullptr); }
    Assignment(const Assignment&) = delete;
    Assignment& operator=(const Assignment&) = delete;

private:
    rd_kafka_t* handle_;
};

}  // namespace

TopicReader::TopicReader(KafkaOptions options) : options_{std::move(options)} {}

rd_kafka_s* TopicReader::handle() {
    if (handle_) return handle_.get();
    context_.log = options_.log;
    handle_ = open_client(
        Role::consumer,
        options_,
        // librdkafka requires a group name to assign partitions; no group is joined.
        {{"group.id", options_.group + ".reader"},
         {"enable.auto.commit", "false"},
         {"enable.auto.offset.store", "false"},
         {"auto.offset.reset", "earliest"},
         {"enable.partition.eof", "true"},
         {"fetch.wait.max.ms", std::to_string(options_.fetch_wait.count())}},
        context_,
        [](rd_kafka_conf_t*) {}
    );
    rd_kafka_poll_set_consumer(handle_.get());
    return handle_.get();
}

std::vector<std::string> TopicReader::topics() {
    const std::lock_guard lock{mutex_};
    return topic_names(handle(), options_);
}

std::vector<OffsetRange> TopicReader::extent(const std::string& topic) {
    const std::lock_guard lock{mutex_};
    std::vector<OffsetRange> all;
    const int partitions = partition_count(handle(), options_, topic);
    for (int number = 0; number < partitions; ++number) {
        const Partition partition{topic, number};
        const auto [low, high] = watermarks(handle(), options_, partition);
        all.push_back({partition, low, high});
    }
    return all;
}

void TopicReader::read(
    const std::vector<OffsetRange>& ranges, const std::function<void(Record)>& each
) {
    const std::lock_guard lock{mutex_};
    RemainingOffsets left{ranges};
    if (!left.any()) return;
    const Assignment assignment{handle(), options_, ranges};
    const auto timeout = static_cast<int>(options_.request_timeout.count());
    while (left.any()) {
        const std::unique_ptr<rd_kafka_message_t, DestroyMessage> message{
            rd_kafka_consumer_poll(handle(), timeout)};
        if (!message) throw trouble(options_, "reading topics", "no broker answers");
        const auto error = message->err;
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
            auto record = record_of(*message);
            if (left.wants(record.partition, record.offset)) each(std::move(record));
        } else if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            left.is_over({rd_kafka_topic_name(message->rkt), message->partition});
        } else if (!is_transient(error)) {
            throw trouble(options_, "reading topics", error);
        }
    }
}

}  // namespace pawl::queue::kafka
