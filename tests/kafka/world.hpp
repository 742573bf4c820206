#pragma once

#include "src/queue/kafka/kafka_dead_letters.hpp"
#include "src/queue/kafka/kafka_pusher.hpp"
#include "src/queue/kafka/kafka_queue.hpp"
#include "src/queue/kafka/producer.hpp"
#include "src/queue/kafka/redrive_marks.hpp"
#include "src/queue/kafka/topic_reader.hpp"
#include "src/queue/kafka/topics.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/kafka/cluster.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

// Members of a group on a cluster, and what they share.
namespace pawl::queue {

using conformance::HandClock;
using Jids = std::vector<std::string>;

class KafkaTest : public ::testing::Test {
protected:
    KafkaTest() { store::apply_migrations(store, "pawl", sql::migrations::all); }

    // With one partition, if order matters.
    void make_topics(int partitions = 1) {
        options.partitions = partitions;
        cluster.make_topics(options, "default", partitions);
    }
    std::unique_ptr<KafkaQueue> open() {
        return std::make_unique<KafkaQueue>(options, "default", store, clock);
    }
    StagedJob staged(const std::string& jid) {
        StagedJob job;
        job.id = ++ids;
        job.jid = jid;
        job.queue = "default";
        job.kind = "send_receipt";
        job.args = R"({"ride":1})";
        job.created_at = clock.now();
        return job;
    }
    PushReport push(const Jids& jids) {
        std::vector<StagedJob> jobs;
        for (const auto& jid : jids) jobs.push_back(staged(jid));
        return KafkaPusher{options, clock}.push(jobs);
    }
    // As other programs write to the queue's topic.
    void produce(std::optional<std::string> value, kafka::Headers headers = {}) {
        kafka::Record record;
        record.partition.topic = kafka::main_topic(options, "default");
        record.at = clock.now();
        record.value = std::move(value);
        record.headers = std::move(headers);
        kafka::Producer{options}.send(record);
    }
    static std::vector<ClaimedJob> take(KafkaQueue& queue, int limit = 100) {
        EXPECT_TRUE(queue.wait_read(30s));
        return queue.claim(limit, 30s);
    }
    static Jids jids(const std::vector<ClaimedJob>& jobs) {
        Jids found;
        for (const auto& job : jobs) found.push_back(job.raw.jid);
        return found;
    }
    std::vector<kafka::Record> records(const std::string& topic) {
        std::vector<kafka::Record> found;
        kafka::TopicReader reader{options};
        reader.read(reader.extent(topic), [&](kafka::Record record) {
            found.push_back(std::move(record));
        });
        return found;
    }

    HandClock clock;
    memory::MemoryStore store{clock};
    testing::KafkaCluster& cluster = testing::KafkaCluster::shared();
    KafkaOptions options = cluster.new_options();
    std::int64_t ids{0};
};

}  // namespace pawl::queue
