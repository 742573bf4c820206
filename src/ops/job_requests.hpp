#pragma once

#include <pawl/principal.hpp>

#include "src/queue/dead_letters.hpp"
#include "src/queue/jobs.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

// A job that is carried out as an operation has a request, whose key is the job's id. While that
// key is not settled, the completer goes on with it, whatever becomes of the job.
namespace pawl::ops {

const Principal& principal_of_jobs();

// The requests of these jobs, by jid; jobs without one are left out. Throws StoreError.
std::map<std::string, queue::JobRequest> requests_of_jobs(
    detail::Session& session, std::span<const std::string> jids
);

// A job waits for as long as its request exists, within these bounds.
struct RequestWait {
    std::chrono::milliseconds least{std::chrono::seconds{1}};
    std::chrono::milliseconds most{std::chrono::minutes{10}};
};
// How long a job waits until it asks again whether its request is settled. nullopt: it has none, or
// it is finished. A worker that took the request over would be a second retrier beside the
// completer: twice the load on a provider that is down, and after the last retry layer a dead
// letter whose request goes on. Throws StoreError.
std::optional<std::chrono::milliseconds> wait_for_request_of_job(
    store::Store& store, const std::string& jid, const RequestWait& wait
);

// The jids of the last page. A step on its jobs need not look each of them up, for which Redis
// would read all of its jobs.
class ListedJids {
public:
    template <class Job>
    void remember(const std::vector<Job>& page) {
        jids_.clear();
        for (const auto& job : page) jids_.emplace(job.id, job.jid);
    }
    // Parallel to the ids; empty: there is no such job. `jobs` is asked for those of no page.
    template <class Jobs>
    std::vector<std::string> of(std::span<const std::string> ids, Jobs& jobs) const {
        std::vector<std::string> found;
        for (const auto& id : ids) {
            if (const auto at = jids_.find(id); at != jids_.end()) {
                found.push_back(at->second);
                continue;
            }
            const auto job = jobs.find(id);
            found.push_back(job ? job->jid : std::string{});
        }
        return found;
    }

private:
    std::map<std::string, std::string> jids_;  // By id.
};

// Adds to dead letters what is known of their requests. A purge holds them first, so that nobody
// goes on with them, and leaves the jobs whose request is at work; a merge ends a hold that
// RequestsOfJobs::cancel() began.
class RequestsOfDeadLetters final : public queue::DeadLetters {
public:
    // Both outlive this object. Not thread-safe.
    RequestsOfDeadLetters(store::Store& store, queue::DeadLetters& letters)
        : store_{store}, letters_{letters} {}

    std::vector<queue::DeadLetter> page(
        const queue::DeadLetterFilter& filter, const std::string& after, int limit
    ) override;
    std::vector<queue::DeadLetterGroup> groups(const queue::DeadLetterFilter& filter) override {
        return letters_.groups(filter);
    }
    std::optional<queue::DeadLetter> find(const std::string& id) override;
    queue::PurgeResult purge(std::span<const std::string> ids, const queue::AuditEntry& act)
        override;
    queue::PurgeResult merge(
        std::span<const std::string> ids,
        const queue::AuditEntry& act,
        std::optional<TimePoint> remembered_since
    ) override;

private:
    store::Store& store_;
    queue::DeadLetters& letters_;
    ListedJids listed_;
};

// The same for jobs that are not dead. A cancellation holds their requests.
class RequestsOfJobs final : public queue::Jobs {
public:
    // Both outlive this object. Not thread-safe.
    RequestsOfJobs(store::Store& store, queue::Jobs& jobs) : store_{store}, jobs_{jobs} {}

    std::vector<queue::ListedJob> page(
        const queue::JobFilter& filter, const std::string& after, int limit
    ) override;
    std::optional<queue::ListedJob> find(const std::string& id) override;
    queue::CancelResult cancel(std::span<const std::string> ids, const queue::AuditEntry& act)
        override;
    queue::RetryResult retry_now(std::span<const std::string> ids, const queue::AuditEntry& act)
        override {
        return jobs_.retry_now(ids, act);
    }

private:
    store::Store& store_;
    queue::Jobs& jobs_;
    ListedJids listed_;
};

}  // namespace pawl::ops
