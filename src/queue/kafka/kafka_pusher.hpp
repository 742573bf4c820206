#pragma once

#include "src/base/clock.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/pusher.hpp"

#include <memory>

namespace pawl::queue {

namespace kafka {
class Producer;
}

// Pushes each job as one record into the topic of its queue (job_record.hpp). The brokers create a
// missing topic where they are configured to. Each call waits for the answer to each record. A job
// is refused if it is too large or its queue's name can't name a topic.
class KafkaPusher final : public Pusher {
public:
    KafkaPusher(KafkaOptions options, base::Clock& clock);  // The clock outlives this object.
    ~KafkaPusher() override;
    PushReport push(std::span<const StagedJob> jobs) override;

private:
    KafkaOptions options_;
    base::Clock& clock_;
    std::unique_ptr<kafka::Producer> producer_;
};

}  // namespace pawl::queue
