#pragma once

#include <pawl/service.hpp>

#include "src/ops/job_choice.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

// The commands on jobs that are not finished and not dead. Each throws CommandFailed (output.hpp)
// and StoreError.
namespace pawl::cli {

struct JobOptions {
    std::vector<std::string> ids;
    queue::JobFilter filter;                   // Without its times:
    std::optional<std::int64_t> older_than_s;  // Staged longer ago than this.
    std::optional<std::int64_t> younger_than_s;
    std::string after;
    int limit{50};
    bool all{false};  // --all: to act on all jobs must be explicit.
    bool dry_run{false};
    bool in_database{false};  // With an external queue: the jobs that are in the database.
    queue::AuditEntry act;
};

void list_jobs(Service& service, const JobOptions& options, bool json, std::ostream& out);
void show_job(
    Service& service, const JobOptions& options, const std::string& id, bool json, std::ostream& out
);
// Throws UsageError if `options` do not say which jobs, or not why; called before the database is
// opened.
void check_job_act(const JobOptions& options, const std::string& verb);
// Each prints the outcome, and throws CommandFailed if nothing could be done for any of the jobs.
void cancel_jobs(Service& service, const JobOptions& options, bool json, std::ostream& out);
void retry_jobs(Service& service, const JobOptions& options, bool json, std::ostream& out);

}  // namespace pawl::cli
