#pragma once

#include "src/queue/jobs.hpp"
#include "src/store/store.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// The jobs in the table `pawl_jobs`; an id is the number of a row. cancel() and retry_now() each
// act on all ids in one transaction.
class EmbeddedJobs final : public Jobs {
public:
    // The store outlives this object.
    explicit EmbeddedJobs(store::Store& store) : store_{store} {}

    std::vector<ListedJob> page(const JobFilter& filter, const std::string& after, int limit)
        override;
    std::optional<ListedJob> find(const std::string& id) override;
    CancelResult cancel(std::span<const std::string> ids, const AuditEntry& act) override;
    RetryResult retry_now(std::span<const std::string> ids, const AuditEntry& act) override;

private:
    store::Store& store_;
};

}  // namespace pawl::queue
