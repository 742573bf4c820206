#pragma once

#include "src/base/clock.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/pusher.hpp"

#include <memory>

namespace pawl::queue {

namespace kafka {
class Producer;
}

// Into the topics of the queues, one record a job (job_record.hpp). A queue whose topic is not
// there is made by the brokers, where they do so. Each call waits for the answer to each record;
// what is refused is too large, or of a queue whose name no topic can have.
class KafkaPusher final : public Pusher {
public:
    KafkaPusher(KafkaOptions options, base::Clock& clock);  // The clock outlives it.
    ~KafkaPusher() override;
    PushReport push(std::span<const StagedJob> jobs) override;

private:
    KafkaOptions options_;
    base::Clock& clock_;
    std::unique_ptr<kafka::Producer> producer_;
};

}  // namespace pawl::queue
