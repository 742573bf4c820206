#pragma once

#include "src/core/queue_limits.hpp"
#include "src/queue/queue.hpp"
#include "src/store/store.hpp"

#include <array>
#include <atomic>
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

    // The jobs of a priority that are due from `from` on.
    struct Level {
        int priority;
        TimePoint from;
    };
    struct Picked {
        int priority{};
        std::vector<std::int64_t> ids{};
        bool all{};          // No other job of this priority was due.
        TimePoint latest{};  // The latest run_at.
    };
    // Whether a claim may take a job now, by a look without the lock.
    bool has_room(detail::Session& session, const ClaimFilter& filter);
    // The levels that had room. Empty: no job may be claimed now. Spends the rate's tokens. Throws
    // StoreError.
    std::vector<Picked> pick(
        detail::Session& session,
        const ClaimFilter& filter,
        const std::vector<Level>& levels,
        int asked
    );

    // Gives jobs from before the queue had turns a partition. Throws StoreError.
    void give_partitions(store::Store& store) const;

    // Partitions have turns: jobs are not claimed in the order of run_at.
    bool in_turns() const { return limits_.partition_max > 0; }
    // See Queue::held_back_for().
    std::optional<std::chrono::milliseconds> held_back_for(const ClaimFilter& filter) const;
    void hold_back(const ClaimFilter& filter, core::Microseconds wait);  // 0: not.

private:
    struct Claim;

    std::optional<core::Microseconds> full_at(detail::Session& session, const Sql& statement) const;
    std::optional<core::Microseconds> lock(detail::Session& session) const;
    void pick_by_time(const Claim& claim, Picked& picked, int limit, TimePoint from) const;
    void pick_in_turns(Claim& claim, Picked& picked, int limit);

    const std::string queue_;
    const core::QueueLimits limits_;
    std::mutex mutex_;
    // The partition that was served last, for each priority, and for retries or not.
    std::map<std::pair<int, std::size_t>, std::string> turns_;
    // Of first tries and of retries; 0: not held back.
    std::array<std::atomic<std::int64_t>, 2> held_back_for_ms_{};
};

}  // namespace pawl::queue
