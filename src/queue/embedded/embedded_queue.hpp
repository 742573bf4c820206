#pragma once

#include "src/core/queue_limits.hpp"
#include "src/queue/embedded/limited_claims.hpp"
#include "src/queue/embedded/poll_cursor.hpp"
#include "src/queue/embedded/queue_cursors.hpp"
#include "src/queue/queue.hpp"
#include "src/store/combiner.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::queue {

// The `pawl_jobs` table of the store. A phase stages its jobs there directly.
class EmbeddedQueue final : public Queue {
public:
    // The store outlives it. All queues of this name in all servers have the same limits.
    explicit EmbeddedQueue(
        store::Store& store, std::string name = "default", core::QueueLimits limits = {}
    );

    using Queue::claim;
    std::vector<ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
    ) override;
    bool renew(const ClaimedJob& job, std::chrono::milliseconds lease) override;
    FinishResult finish_in_transaction(detail::Session& session, const ClaimedJob& job) override;
    bool done_before(detail::Session&, const ClaimedJob&) override { return false; }
    void finished(const ClaimedJob&) override {}  // The transaction has deleted the job.
    bool finish(const ClaimedJob& job) override;
    bool reschedule(
        const ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) override;
    void release(const std::vector<ClaimedJob>& jobs) override;  // In one transaction.
    bool dead_letter(const ClaimedJob& job, const std::string& error) override;
    bool mark_called(ClaimedJob& job) override;
    bool begin_alone(ClaimedJob& job) override;
    std::vector<bool> still_held(const std::vector<ClaimedJob>& jobs) override;
    int rescue(std::chrono::milliseconds lease) override;
    std::optional<std::chrono::milliseconds> held_back_for(const ClaimFilter& filter) override;
    std::optional<TimePoint> next_due() override;

    // A job and its claim number, which fences writes.
    struct Held {
        std::string fence() const { return std::to_string(id) + ":" + std::to_string(claim); }
        std::int64_t id{};
        std::int64_t claim{};
    };

private:
    struct Claimed;

    std::vector<std::optional<TimePoint>> mark_together(const std::vector<Held>& jobs);
    // The priorities that have a due job, and from where to claim.
    std::vector<QueueCursors::Poll> poll_due(const ClaimFilter& filter);
    Claimed claim_due(
        store::Session& session,
        const std::vector<QueueCursors::Poll>& due,
        int limit,
        std::chrono::milliseconds lease,
        const ClaimFilter& filter
    );
    Claimed claim_limited(
        store::Session& session,
        const std::vector<QueueCursors::Poll>& due,
        int limit,
        std::chrono::milliseconds lease,
        const ClaimFilter& filter
    );
    void dead_letter_damaged(const ClaimedJob& job, const std::string& why);
    void sweep_all(const Sweeps::Sweep& sweep);

    store::Store& store_;
    std::string name_;
    std::optional<LimitedClaims> limited_;
    QueueCursors cursors_;
    std::mutex mutex_;  // Guards sweeps_.
    Sweeps sweeps_;
    // Batches the marks and the finishes of workers that make calls.
    store::Combiner<Held, bool> finishing_;
    store::Combiner<Held, std::optional<TimePoint>> marking_;
};

}  // namespace pawl::queue
