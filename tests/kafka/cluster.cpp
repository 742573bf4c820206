#include "tests/kafka/cluster.hpp"

#include "src/queue/kafka/topics.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace pawl::testing {

KafkaCluster& KafkaCluster::shared() {
    static KafkaCluster cluster;
    return cluster;
}

KafkaCluster::KafkaCluster() {
    if (const char* given = std::getenv("PAWL_TEST_KAFKA")) {
        brokers_ = given;
        return;
    }
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
        throw std::runtime_error{"no pipe"};
    child_ = ::fork();
    if (child_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(in[0], 0);
        ::dup2(out[1], 1);
        ::execl(PAWL_MOCK_CLUSTER, "mock_cluster", nullptr);
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    brokers_ = line();
}

KafkaCluster::~KafkaCluster() {
    if (to_ < 0) return;
    ::close(to_);
    ::close(from_);
    ::waitpid(child_, nullptr, 0);
}

std::string KafkaCluster::line() {
    std::string text;
    for (char c = 0; ::read(from_, &c, 1) == 1;) {
        if (c == '\n') return text;
        text += c;
    }
    throw std::runtime_error{"the mock cluster has died"};
}

void KafkaCluster::tell(const std::string& command) {
    const auto sent = command + "\n";
    if (::write(to_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size()))
        throw std::runtime_error{"the mock cluster has died"};
    if (const auto answer = line(); answer != "NO_ERROR")
        throw std::runtime_error{command + ": " + answer};
}

void KafkaCluster::all_down() {
    for (const auto* broker : {"1", "2", "3"}) tell(std::string{"down "} + broker);
}

void KafkaCluster::all_up() {
    for (const auto* broker : {"1", "2", "3"}) tell(std::string{"up "} + broker);
}

queue::KafkaOptions KafkaCluster::new_options(int partitions) {
    using namespace std::chrono_literals;
    static std::atomic<int> made{0};
    queue::KafkaOptions options;
    options.brokers = brokers_;
    options.prefix = "t" + std::to_string(::getpid()) + "-" + std::to_string(++made);
    options.group = "rides";
    options.session_timeout = 6s;  // The least that brokers accept by default.
    options.fetch_wait = 10ms;
    options.claim_wait = 0ms;
    options.hold_max = 5'000;
    options.partitions = partitions;
    options.replication = 1;
    return options;
}

void KafkaCluster::make_topics(
    const queue::KafkaOptions& options, const std::string& queue, int partitions
) {
    if (!is_mock()) return;  // The queue makes its own.
    for (const auto& topic : queue::kafka::worked_topics(options, queue))
        tell("topic " + topic + " " + std::to_string(partitions));
    tell("topic " + queue::kafka::dead_topic(options, queue) + " 1");
}

}  // namespace pawl::testing
