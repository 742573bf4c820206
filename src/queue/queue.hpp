#pragma once

#include <pawl/detail/erased_job.hpp>
#include <pawl/detail/session.hpp>

#include "src/core/trace_context.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::queue {

// A claimed job, held under a lease.
struct ClaimedJob {
    std::string id;        // The queue's own id, unique among claimed jobs.
    std::int64_t claim{};  // The fence: each claim of a job has a different number.
    int failures{};        // Before this try.
    int deaths{};          // Servers that died while they had it; 0 on Kafka, which counts none.
    std::optional<int> deaths_before_alone{};  // core::DeathFacts
    std::string queue;
    std::string kind;
    std::optional<std::string> refused{};     // Why its sender does not want it to run any more.
    std::optional<int> attempts_max{};        // As its sender wants it; the kind may have less.
    std::optional<TimePoint> called_at;       // First call to the outside under this job's key.
    std::string held;                         // The stored form; used by the queue only.
    std::optional<core::TraceContext> trace;  // The span that staged it.
    detail::RawJob raw;
};

// Which due jobs a claim may get; by default all of the queue.
struct ClaimFilter {
    std::optional<int> failures_min{};
    std::optional<int> failures_max{};
    std::vector<std::string> without_kinds{};  // Sorted.

    bool admits(int failures, std::string_view kind) const {
        return failures >= failures_min.value_or(failures) &&
               failures <= failures_max.value_or(failures) &&
               !std::binary_search(without_kinds.begin(), without_kinds.end(), kind);
    }
    bool retries_only() const { return failures_min.value_or(0) > 0; }
    auto operator<=>(const ClaimFilter&) const = default;
};

// The result of marking a job as done in its handler's transaction.
enum class FinishResult {
    done,        // Takes effect if the transaction commits.
    lost,        // The lease was lost: another worker has the job.
    done_before  // An earlier transaction did the job: this one must roll back.
};

// The port that every queue implements; tests/conformance specifies it. Every member blocks, is
// thread-safe and throws StoreError, also for a queue outside the database. A bool result is false
// if the lease was lost: another worker has the job, and nothing was written.
class Queue {
public:
    virtual ~Queue() = default;

    // Claims at most `limit` due jobs that the filter admits, each under a lease that ends `lease`
    // from now. Jobs that it does not admit hide no others, except on Kafka beyond those that are
    // in memory, and on Redis beyond a thousand.
    virtual std::vector<ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
    ) = 0;
    std::vector<ClaimedJob> claim(int limit, std::chrono::milliseconds lease) {
        return claim(limit, lease, ClaimFilter{});
    }
    virtual bool renew(const ClaimedJob& job, std::chrono::milliseconds lease) = 0;

    // Marks a job as done in its handler's transaction: the handler's writes and the mark commit
    // together. A lost lease may also be reported as StoreError (fenced), by this or a later
    // statement, or by the commit.
    virtual FinishResult finish_in_transaction(detail::Session& session, const ClaimedJob& job) = 0;
    // Whether an earlier transaction did this job, which an external queue has delivered again.
    virtual bool done_before(detail::Session& session, const ClaimedJob& job) = 0;
    // Called after that transaction has committed, or found the job done before: removes the job
    // from an external queue. If this fails, the job is delivered again and found done before.
    virtual void finished(const ClaimedJob& job) = 0;
    virtual bool finish(const ClaimedJob& job) = 0;
    // The job is due again in `wait` (at least 0), by the clock of the queue's server; on Kafka,
    // which has none, by that of this process. With an error it counts as a failure.
    virtual bool reschedule(
        const ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) = 0;
    // Gives jobs back that were claimed and not begun: they are due at once. Leaves those whose
    // lease was lost.
    virtual void release(const std::vector<ClaimedJob>& jobs) {
        for (const auto& job : jobs) reschedule(job, {}, std::nullopt);
    }
    // Moves the job to the dead letters.
    virtual bool dead_letter(const ClaimedJob& job, const std::string& error) = 0;
    // Called before the first call to the outside under the job's key; sets job.called_at.
    virtual bool mark_called(ClaimedJob& job) = 0;

    // The job is going to run alone (core/death_rule.hpp). Its end, however recorded, takes that
    // back; a queue that counts no deaths has nothing to record.
    virtual bool begin_alone(ClaimedJob& /*job*/) { return true; }
    // Which of these jobs this process still holds; those of queues that can't tell are held. For
    // handlers that run long: a person may have cancelled their job.
    virtual std::vector<bool> still_held(const std::vector<ClaimedJob>& jobs) {
        return std::vector<bool>(jobs.size(), true);
    }
    // Frees the jobs of dead workers, and jobs whose lease ends later than a lease taken now could
    // (a clock was set back). Returns the number of freed jobs.
    virtual int rescue(std::chrono::milliseconds lease) = 0;
    // After a claim that the queue's limits held back: when they may admit a job. nullopt: they
    // held none back, or a running job must end first.
    virtual std::optional<std::chrono::milliseconds> held_back_for(const ClaimFilter&) {
        return std::nullopt;
    }
    // When the next waiting job is due; nullopt: none waits. May be too early.
    virtual std::optional<TimePoint> next_due() = 0;
};

}  // namespace pawl::queue
