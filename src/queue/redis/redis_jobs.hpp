#pragma once

#include "src/queue/jobs.hpp"
#include "src/redis/client.hpp"
#include "src/store/store.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// The jobs in Sidekiq's queues and sets, Pawl's and Ruby's, and those that Pawl's workers hold; not
// those that Ruby's workers hold, which Redis does not have. An id is a jid, since the inbox takes
// two jobs with one jid for the same: of such copies one is shown, and an act is on all of them. A
// payload that is not a job has the id that is derived from its bytes.
//
// Redis has no index of jobs: each member reads all jobs, in chunks. The audit entry is written
// before the act, as of RedisDeadLetters. Thread-safe.
class RedisJobs final : public Jobs {
public:
    // Client and store outlive this object. `names`: queues that Redis may not know of.
    RedisJobs(redis::Client& client, store::Store& store, std::set<std::string, std::less<>> names);

    // Jobs that move meanwhile may be missing, or shown in their state before.
    std::vector<ListedJob> page(const JobFilter& filter, const std::string& after, int limit)
        override;
    std::optional<ListedJob> find(const std::string& id) override;
    // Atomic for each job. In one step up to a few megabytes, and up to a million comparisons that
    // Redis makes to find jobs in lists; beyond, in several. A handler's transaction is not stopped
    // by it: if it commits, the inbox knows the job as done, also after a merge.
    CancelResult cancel(std::span<const std::string> ids, const AuditEntry& act) override;
    RetryResult retry_now(std::span<const std::string> ids, const AuditEntry& act) override;

private:
    redis::Client& client_;
    store::Store& store_;
    std::set<std::string, std::less<>> names_;
};

}  // namespace pawl::queue
