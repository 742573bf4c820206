#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/redis/client.hpp"
#include "src/store/store.hpp"

namespace pawl::queue {

// Sidekiq's dead set: Pawl's jobs and Ruby's, and payloads that are not jobs. Pawl never trims it.
// The audit entry is written before the action: after a crash in between there is an entry for an
// action that did not happen, but never a purge without an entry.
class RedisDeadLetters final : public DeadLetters {
public:
    RedisDeadLetters(redis::Client& client, store::Store& store)  // Both outlive this object.
        : client_{client}, store_{store} {}

    std::vector<DeadLetter> page(
        const DeadLetterFilter& filter, const std::string& after, int limit
    ) override;
    std::vector<DeadLetterGroup> groups(const DeadLetterFilter& filter) override;
    std::optional<DeadLetter> find(const std::string& id) override;
    // In one step up to 64 MiB of jobs; beyond, in several.
    PurgeResult purge(std::span<const std::string> ids, const AuditEntry& act) override;
    PurgeResult merge(
        std::span<const std::string> ids,
        const AuditEntry& act,
        std::optional<TimePoint> remembered_since
    ) override;

private:
    redis::Client& client_;
    store::Store& store_;
};

}  // namespace pawl::queue
