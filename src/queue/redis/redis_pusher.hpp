#pragma once

#include "src/queue/pusher.hpp"
#include "src/redis/client.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace pawl::queue {

// Pushes staged jobs as Sidekiq's client does, each once: what Redis has had it remembers by jid
// until forget(), for a week at most, and so knows what comes again after a death or a lost answer.
// Twice is a job pushed only by an enqueuer that was paused for longer than its claim; then the
// inbox lets a handler's transaction happen once. Thread-safe.
class RedisPusher final : public Pusher {
public:
    explicit RedisPusher(redis::Client& client) : client_{client} {}  // It outlives it.
    // Refuses what is above 8 MiB. Throws only if nothing was sent: what was sent before a trouble
    // is in the report, and the rest in neither list.
    PushReport push(std::span<const StagedJob> jobs) override;
    // Told to Redis with a later push.
    void forget(std::span<const std::string> jids) override;

private:
    struct Round;  // What goes in one script.
    void send(Round round, PushReport& report);
    std::vector<std::string> to_forget();

    redis::Client& client_;
    std::mutex mutex_;
    std::vector<std::string> forgotten_;  // Of Redis, soon.
};

}  // namespace pawl::queue
