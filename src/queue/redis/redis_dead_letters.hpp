#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/redis/client.hpp"
#include "src/store/store.hpp"

namespace pawl::queue {

// Sidekiq's dead set: ours and Ruby's, and what is no job at all. Never trimmed by us. The audit is
// written to the store before what it tells of is done: a process that dies in between leaves a row
// of something asked for that did not happen, never a purge that nobody can explain.
class RedisDeadLetters final : public DeadLetters {
public:
    RedisDeadLetters(redis::Client& client, store::Store& store)  // Both outlive it.
        : client_{client}, store_{store} {}

    std::vector<DeadLetter> page(const DeadFilter& filter, const std::string& after, int limit)
        override;
    std::vector<DeadGroup> groups(const DeadFilter& filter) override;
    std::optional<DeadLetter> find(const std::string& id) override;
    // One step each up to 64 MiB of jobs; beyond, several.
    DeadDone purge(std::span<const std::string> ids, const DeadAct& act) override;
    DeadDone merge(
        std::span<const std::string> ids,
        const DeadAct& act,
        std::optional<TimePoint> remembered_since
    ) override;

private:
    redis::Client& client_;
    store::Store& store_;
};

}  // namespace pawl::queue
