#pragma once

#include "src/queue/pusher.hpp"
#include "src/redis/client.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace pawl::queue {

// Pushes staged jobs as Sidekiq's client does, each once: Redis remembers pushed jids until
// forget(), for a week at most, and so recognizes a push that is repeated after a crash or a lost
// reply. A job is pushed twice only by an enqueuer that was paused for longer than its claim; then
// the inbox lets a handler's transaction happen once. Thread-safe.
class RedisPusher final : public Pusher {
public:
    // The client outlives this object.
    explicit RedisPusher(redis::Client& client) : client_{client} {}
    // Refuses jobs above 8 MiB. Throws only if nothing was sent; otherwise the report has what was
    // sent before the error, and the rest is in neither list.
    PushReport push(std::span<const StagedJob> jobs) override;
    // Sent to Redis with a later push.
    void forget(std::span<const std::string> jids) override;

private:
    struct Round;  // The jobs of one script call.
    void send(Round round, PushReport& report);
    std::vector<std::string> to_forget();

    redis::Client& client_;
    std::mutex mutex_;
    std::vector<std::string> forgotten_;  // Not yet sent to Redis.
};

}  // namespace pawl::queue
