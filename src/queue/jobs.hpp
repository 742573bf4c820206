#pragma once

#include <pawl/detail/session.hpp>

#include "src/queue/dead_letters.hpp"
#include "src/store/damaged_row.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// A job that is not finished and not dead.
struct ListedJob {
    std::string id;
    // due, later (its first try is not due yet), retrying (waits for its next try), or running.
    std::string state;
    std::string jid;
    std::string queue;
    std::string kind;
    std::string args;
    int tries{};  // Claims; those that ended without a result are not counted on Redis.
    int failures{};
    int deaths{};                     // Servers that died while they had it.
    std::optional<TimePoint> run_at;  // nullopt: Redis forgets it when the job is due.
    std::optional<TimePoint> lease_until;
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    std::optional<std::string> error;
    std::string history;
    std::optional<JobRequest> request{};  // Set by ops::RequestsOfJobs.
    store::Damage damaged{};              // Values that did not decode; they are left out above.
};

// Selects jobs. An unset field matches all.
struct JobFilter {
    std::optional<std::string> queue{};
    std::optional<std::string> kind{};
    std::optional<std::string> state{};
    std::optional<std::string> error{};  // Matches any part of the last error.
    std::optional<TimePoint> created_before{};
    std::optional<TimePoint> created_since{};
    std::optional<std::int64_t> key_id{};  // Of the request that staged it.
};

struct CancelResult {
    int cancelled{};
    int running{};  // Of these: claimed by workers. A call that was made is not undone.
    int gone{};     // Not there: finished, dead, or cancelled before.
    // Set by ops::RequestsOfJobs: requests that are held from now on, and those of them at which an
    // attempt was at work, which may still end.
    int held{};
    int at_work{};
};

struct RetryResult {
    int due{};   // Due at once now.
    int left{};  // Running, due before, or not there.
};

// The port for what people see and change of a queue's jobs; tests/conformance specifies it. Every
// member blocks, is thread-safe and throws StoreError.
class Jobs {
public:
    virtual ~Jobs() = default;

    // At most `limit`, by ascending id, after the id `after` (empty: from the first).
    virtual std::vector<ListedJob> page(
        const JobFilter& filter, const std::string& after, int limit
    ) = 0;
    virtual std::optional<ListedJob> find(const std::string& id) = 0;

    // Moves the jobs to the dead letters, from where they can be merged back. No failure is
    // counted. A running job's worker has lost it from then on: it records nothing, and stops a
    // handler that makes a call within about two seconds. An operation is not stopped:
    // ops::RequestsOfJobs holds its key.
    virtual CancelResult cancel(std::span<const std::string> ids, const AuditEntry& act) = 0;
    // Lets jobs that wait for a later time be due at once. Their failures stay.
    virtual RetryResult retry_now(std::span<const std::string> ids, const AuditEntry& act) = 0;
};

// Whether a filter selects a job, for queues that are not searched by SQL.
inline bool is_selected(const ListedJob& job, const JobFilter& filter) {
    return (!filter.queue || job.queue == *filter.queue) &&
           (!filter.kind || job.kind == *filter.kind) &&
           (!filter.state || job.state == *filter.state) &&
           (!filter.error || (job.error && job.error->find(*filter.error) != std::string::npos)) &&
           (!filter.created_before || job.created_at < *filter.created_before) &&
           (!filter.created_since || job.created_at >= *filter.created_since) &&
           (!filter.key_id || job.key_id == *filter.key_id);
}

}  // namespace pawl::queue
