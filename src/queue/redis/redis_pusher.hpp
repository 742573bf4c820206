#pragma once

#include "src/queue/pusher.hpp"
#include "src/queue/redis/client.hpp"

namespace pawl::queue {

// Pushes staged jobs as Sidekiq's client does. Where an answer is lost they may be there twice,
// under one jid: the inbox lets a handler's transaction happen once.
class RedisPusher final : public Pusher {
public:
    explicit RedisPusher(redis::Client& client) : client_{client} {}  // It outlives it.
    // Refuses what is above 8 MiB. Throws only if nothing was sent: what was sent before a trouble
    // is in the report, and the rest in neither list.
    PushReport push(std::span<const StagedJob> jobs) override;

private:
    redis::Client& client_;
};

}  // namespace pawl::queue
