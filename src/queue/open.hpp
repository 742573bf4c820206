#pragma once

#include "src/base/clock.hpp"
#include "src/base/warning.hpp"
#include "src/core/queue_limits.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/queue/jobs.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"
#include "src/queue/queue_depth.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::queue {

// Which queue to open, and the service's settings that it needs.
struct QueueSetting {
    std::string url{"embedded"};  // Or redis://..., kafka://...
    std::string name{default_queue};
    std::vector<std::chrono::milliseconds> retry_layers{};  // Kafka has one topic for each.
    core::QueueLimits limits{};

    // What is wrong, and what to write instead. Does not connect.
    std::optional<std::string> problem() const;
};

struct OpenQueue {
    // Checks that an external queue is reachable and keeps jobs safely; throws StoreError, refused
    // if it does not. A queue may be opened while it is unreachable: it reconnects by itself.
    std::function<void()> check;
    std::shared_ptr<void> connections;  // Shared by the members below, and nothing else.
    std::unique_ptr<Queue> queue;
    // Another queue over the same connections; the URL is not read.
    std::function<std::unique_ptr<Queue>(const QueueSetting& setting)> another;
    std::unique_ptr<Pusher> pusher;  // nullptr for the embedded queue.
    std::unique_ptr<DeadLetters> dead_letters;
    // The jobs of these queues and, where the queue's server or database knows them, of all others.
    // The result uses `connections` and the store. Empty for Kafka, whose log can neither be
    // searched nor changed by job.
    std::function<std::unique_ptr<Jobs>(const std::set<std::string, std::less<>>& names)> jobs{};
    // The jobs that wait outside the database, in these queues and, on Redis, in all others; empty
    // for the embedded queue. Throws StoreError.
    std::function<std::vector<QueueDepth>(const std::set<std::string, std::less<>>& names)>
        waiting{};
    // The dead letters outside the database, at a cost that does not grow with their number; empty
    // for the embedded queue. Throws StoreError.
    std::function<DeadCounts()> dead{};
    // The main topics of these queues that Kafka's brokers do not have yet; empty for other queues.
    // Throws StoreError.
    std::function<std::vector<std::string>(const std::set<std::string, std::less<>>& names)>
        missing_topics{};
};

// Store and clock outlive the queue. Does not connect. std::invalid_argument: a problem().
OpenQueue open_queue(
    const QueueSetting& setting, store::Store& store, base::Clock& clock, base::OnWarning on_warning
);

}  // namespace pawl::queue
