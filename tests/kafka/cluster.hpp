#pragma once

#include "src/queue/kafka/options.hpp"

#include <optional>
#include <string>

namespace pawl::testing {

// The brokers of this process's tests: a mock cluster in its own process, started on first use and
// ended with this one; or real ones, named by PAWL_TEST_KAFKA=host:port, which create topics
// automatically or let us create them.
class KafkaCluster {
public:
    static KafkaCluster& shared();
    KafkaCluster();
    ~KafkaCluster();
    KafkaCluster(const KafkaCluster&) = delete;
    KafkaCluster& operator=(const KafkaCluster&) = delete;

    const std::string& brokers() const { return brokers_; }
    bool is_mock() const { return to_ >= 0; }
    // A command to the mock (mock_cluster.cpp). Throws std::runtime_error if it is refused.
    void tell(const std::string& command);
    void all_down();
    void all_up();

    // A new prefix, short waits, and the topics of these queues: on the mock with that many
    // partitions, for dead letters always one.
    queue::KafkaOptions new_options(int partitions = 4);
    void make_topics(const queue::KafkaOptions& options, const std::string& queue, int partitions);

private:
    std::string line();

    std::string brokers_;
    int to_{-1};
    int from_{-1};
    int child_{-1};
};

}  // namespace pawl::testing
