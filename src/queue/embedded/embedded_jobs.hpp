#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/store/store.hpp"

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
    int tries{};  // Claims, also those that ended without a result.
    int failures{};
    TimePoint run_at{};
    std::optional<TimePoint> lease_until;
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    std::optional<std::string> error;
    std::string history;
    store::Damage damaged{};  // Columns that did not decode; they are left out above.
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
};

struct RetryResult {
    int due{};   // Due at once now.
    int left{};  // Running, due before, or not there.
};

// What people see and change in the `pawl_jobs` table. Every member blocks, is thread-safe and
// throws StoreError. cancel() and retry_now() each act on all ids in one transaction.
class EmbeddedJobs {
public:
    // The store outlives this object.
    explicit EmbeddedJobs(store::Store& store) : store_{store} {}

    // At most `limit`, by ascending id, after the id `after` (empty: from the first).
    std::vector<ListedJob> page(const JobFilter& filter, const std::string& after, int limit);
    std::optional<ListedJob> find(const std::string& id);

    // Moves the jobs to the dead letters, from where they can be merged back. A running job's
    // worker has lost it from then on: it records nothing, and stops a handler that makes a call
    // within about two seconds. An operation is not stopped; its key is finished as any other.
    CancelResult cancel(std::span<const std::string> ids, const AuditEntry& act);
    // Lets jobs that wait for a later time be due at once.
    RetryResult retry_now(std::span<const std::string> ids, const AuditEntry& act);

private:
    store::Store& store_;
};

}  // namespace pawl::queue
