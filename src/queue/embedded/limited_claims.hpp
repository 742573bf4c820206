#pragma once

#include "src/core/queue_limits.hpp"
#include "src/queue/embedded/queue_cursors.hpp"
#include "src/queue/held_back.hpp"
#include "src/queue/queue.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::queue {

// Picks the jobs that a claim of a queue with limits may take, in the claim's transaction: it locks
// the queue's row of limits, counts the running jobs, and picks due ones up to the limits, the
// partitions in turn (docs/adr/0030). Thread-safe.
class LimitedClaims {
public:
    LimitedClaims(std::string queue, core::QueueLimits limits);

    struct Picked {
        QueueCursors::Poll poll{};  // Of their priority.
        std::vector<std::int64_t> ids{};
        bool all{};          // No other job of this priority was due.
        TimePoint latest{};  // The latest run_at.
    };
    // Whether a claim may take a job now, by a look without the lock.
    bool has_room(detail::Session& session, const ClaimFilter& filter);
    // The polls that had room. Empty: no job may be claimed now. Spends the rate's tokens. Throws
    // StoreError.
    std::vector<Picked> pick(
        detail::Session& session,
        const ClaimFilter& filter,
        const std::vector<QueueCursors::Poll>& due,
        int asked
    );

    // Gives jobs from before the queue had turns a partition. Throws StoreError.
    void give_partitions(store::Store& store) const;

    // Partitions have turns: jobs are not claimed in the order of run_at.
    bool in_turns() const { return limits_.partition_max > 0; }
    HeldBack& held_back() { return held_back_; }

private:
    struct Claim;

    std::optional<core::Microseconds> full_at(detail::Session& session, const Sql& statement) const;
    std::optional<core::Microseconds> lock(detail::Session& session) const;
    void pick_by_time(const Claim& claim, Picked& picked, int limit) const;
    void pick_in_turns(Claim& claim, Picked& picked, int limit);

    const std::string queue_;
    const core::QueueLimits limits_;
    std::mutex mutex_;
    // The partition that was served last, for each priority, and for retries or not.
    std::map<std::pair<int, bool>, std::string> turns_;
    HeldBack held_back_;
};

}  // namespace pawl::queue
