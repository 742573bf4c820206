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

enum class Fate {
    delivered,  // All in-sync replicas have it.
    refused,    // It will never be taken: too large.
    failed,     // It is not there.
    unknown     // It may be there.
};

struct Sent {
    Fate fate{Fate::failed};
    std::string why;
};

// An idempotent producer: what librdkafka itself repeats is there once. From any thread, several at
// a time.
class Producer {
public:
    explicit Producer(KafkaOptions options);
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    // Blocks until it is known of each, at most about options.request_timeout. In the given order.
    // Throws StoreError if the client itself is of no use; the next call makes another.
    std::vector<Sent> send(std::span<const Record> records);
    // One that must be there: throws StoreError if it is not, or may not be.
    void send(const Record& record);

private:
    class Client;
    std::shared_ptr<Client> client();

    KafkaOptions options_;
    std::mutex mutex_;
    std::shared_ptr<Client>
        client_;  // Of the calls under way, too: a broken one ends with its last.
};

}  // namespace pawl::queue::kafka
