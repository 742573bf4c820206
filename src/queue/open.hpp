#pragma once

#include "src/base/clock.hpp"
#include "src/base/remark.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"
#include "src/queue/waiting.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::queue {

// Which queue, and what it must know of the service.
struct QueueSetting {
    std::string url{"embedded"};  // Or redis://..., kafka://...
    std::string name{"default"};
    std::vector<std::chrono::milliseconds> retry_layers{};  // Kafka has a topic for each.

    // What is wrong with it, and what to write instead; nothing is connected to.
    std::optional<std::string> problem() const;
};

struct OpenQueue {
    // Asks a queue outside whether it is there and jobs are safe on it; throws StoreError: refused
    // if they are not. The queue may be opened while it is away: it comes back by itself.
    std::function<void()> check;
    std::shared_ptr<void> connections;  // What the others stand on, and nobody else.
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Pusher> pusher;  // None for the embedded one.
    std::unique_ptr<DeadLetters> dead_letters;
    // What waits outside the database; none for the embedded one. Throws StoreError.
    std::function<std::vector<Waiting>()> waiting{};
};

// Store and clock outlive it. Connects to nothing yet. Throws std::invalid_argument for a setting
// that has a problem.
OpenQueue open_queue(
    const QueueSetting& setting, store::Store& store, base::Clock& clock, base::OnRemark on_remark
);

}  // namespace pawl::queue
