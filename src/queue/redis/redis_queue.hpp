#pragma once

#include "src/core/queue_limits.hpp"
#include "src/queue/held_back.hpp"
#include "src/queue/queue.hpp"
#include "src/redis/client.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::queue {

// One of Sidekiq's queues in Redis (payload.hpp: the form of a job; scripts.hpp: the keys). Ruby
// workers may use the same queue at the same time. Redis 5 or later, no cluster.
class RedisQueue final : public Queue {
public:
    // The client outlives the queue. All queues of this name in all servers have the same limits;
    // partitions have none.
    explicit RedisQueue(
        redis::Client& client, std::string name = "default", core::QueueLimits limits = {}
    );

    // May claim fewer than `limit` if jobs are large.
    using Queue::claim;
    std::vector<ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
    ) override;
    bool renew(const ClaimedJob& job, std::chrono::milliseconds lease) override;
    // Marks the job's jid in the inbox of the session's store. Does not check the lease.
    FinishResult finish_in_transaction(detail::Session& session, const ClaimedJob& job) override;
    bool done_before(detail::Session& session, const ClaimedJob& job) override;
    void finished(const ClaimedJob& job) override;
    bool finish(const ClaimedJob& job) override;
    bool reschedule(
        const ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) override;
    bool dead_letter(const ClaimedJob& job, const std::string& error) override;
    bool mark_called(ClaimedJob& job) override;
    bool begin_alone(ClaimedJob& job) override;
    std::vector<bool> still_held(const std::vector<ClaimedJob>& jobs) override;
    int rescue(std::chrono::milliseconds lease) override;  // Only this queue's jobs.
    std::optional<TimePoint> next_due() override;          // Of the waiting jobs of all queues.
    std::optional<std::chrono::milliseconds> held_back_for(const ClaimFilter& filter) override {
        return held_back_.get(filter);
    }

private:
    redis::Client& client_;
    std::string name_;
    std::string queue_;
    std::string work_;
    std::string leases_;
    std::string rate_;
    core::QueueLimits limits_;
    HeldBack held_back_;
};

}  // namespace pawl::queue
