#pragma once

#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue::kafka {

enum class DeliveryState {
    delivered,  // All in-sync replicas have it.
    refused,    // Too large, will never be accepted.
    failed,     // Not written.
    unknown     // May have been written.
};

struct Sent {
    DeliveryState state{DeliveryState::failed};
    std::string why;
};

// An idempotent producer: librdkafka's own retries do not duplicate records. Thread-safe, with
// several concurrent calls.
class Producer {
public:
    explicit Producer(KafkaOptions options);
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    // Blocks until the state of each record is known, at most about options.request_timeout. Keeps
    // the order. Throws StoreError if the client is broken; the next call creates another.
    std::vector<Sent> send(std::span<const Record> records);
    // Throws StoreError unless the record was delivered.
    void send(const Record& record);

private:
    class Client;
    std::shared_ptr<Client> client();

    KafkaOptions options_;
    std::mutex mutex_;
    // Shared with the running calls: a broken client is destroyed after its last one.
    std::shared_ptr<Client> client_;
};

}  // namespace pawl::queue::kafka
