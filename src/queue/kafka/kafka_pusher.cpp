#include "src/queue/kafka/kafka_pusher.hpp"

#include "src/core/fault.hpp"
#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/job_record.hpp"
#include "src/queue/kafka/producer.hpp"
#include "src/queue/kafka/topics.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pawl::queue {

using namespace kafka;

namespace {

std::optional<std::string> why_refused(const KafkaOptions& options, const Record& record) {
    if (!is_topic(record.partition.topic))
        return "Kafka allows no topic named " + record.partition.topic;
    const auto size = size_of(record);
    if (size > static_cast<std::size_t>(options.message_max))
        return "it has " + std::to_string(size) + " bytes, and a record for Kafka at most " +
               std::to_string(options.message_max);
    return std::nullopt;
}

}  // namespace

KafkaPusher::KafkaPusher(KafkaOptions options, base::Clock& clock)
    : options_{std::move(options)},
      clock_{clock},
      producer_{std::make_unique<Producer>(options_)} {}

KafkaPusher::~KafkaPusher() = default;

PushReport KafkaPusher::push(std::span<const StagedJob> jobs) {
    PushReport report;
    std::vector<Record> records;
    std::vector<std::int64_t> ids;
    const auto now = clock_.now();
    for (const auto& job : jobs) {
        auto record = pushed_record(job, main_topic(options_, job.queue), now);
        if (auto why = why_refused(options_, record)) {
            report.refused.push_back({job.id, std::move(*why)});
            continue;
        }
        records.push_back(std::move(record));
        ids.push_back(job.id);
    }
    PAWL_FAULT("kafka.push.before");
    const auto sent = producer_->send(records);
    PAWL_FAULT("kafka.push.after");
    std::optional<StoreError> failed;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto what = "job " + std::to_string(ids[i]) + " for " + records[i].partition.topic;
        switch (sent[i].state) {
            case DeliveryState::delivered:
                report.sent.push_back(ids[i]);
                break;
            case DeliveryState::refused:
                report.refused.push_back({ids[i], sent[i].why});
                break;
            case DeliveryState::failed:
                break;  // In neither list: it is pushed again.
            case DeliveryState::unknown:
                failed = in_doubt(options_, what, sent[i].why);
                break;
        }
        if (sent[i].state == DeliveryState::failed && !failed)
            failed = trouble(options_, what, sent[i].why);
    }
    // If some arrived, report them; the enqueuer pushes the others again.
    if (failed && report.sent.empty() && report.refused.empty()) throw StoreError{*failed};
    return report;
}

}  // namespace pawl::queue
