#include "src/queue/embedded/embedded_jobs.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "src/queue/embedded/job_ids.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <chrono>
#include <utility>

namespace pawl::queue {

using detail::execute_statement;
using detail::read_rows;
using detail::Row;
using detail::run_statement;

namespace {

using Time = std::optional<TimePoint>;

constexpr std::chrono::seconds steer_deadline{30};

ListedJob listed_job(const Row& row) {
    store::DamagedRow values{row, "list_jobs"};
    ListedJob job;
    job.id = std::to_string(row.integer(0));
    job.state = row.text(1);
    job.jid = row.text(2);
    job.queue = row.text(3);
    job.kind = row.text(4);
    job.args = row.text(5);
    job.tries = values.column<int>(6, "tries");
    job.failures = values.column<int>(7, "failures");
    job.run_at = values.column<TimePoint>(8, "run_at");
    job.lease_until = values.column<Time>(9, "lease_until");
    job.called_at = values.column<Time>(10, "called_at");
    job.key_id = values.column<std::optional<std::int64_t>>(11, "key_id");
    job.created_at = values.column<TimePoint>(12, "created_at");
    job.first_failed_at = values.column<Time>(13, "first_failed_at");
    job.last_failed_at = values.column<Time>(14, "last_failed_at");
    job.error = values.column<std::optional<std::string>>(15, "error");
    job.history = row.text(16);
    job.deaths = values.column<int>(17, "deaths");
    job.damaged = values.damage();
    return job;
}

}  // namespace

std::vector<ListedJob> EmbeddedJobs::page(
    const JobFilter& filter, const std::string& after, int limit
) {
    return store::read_now(store_, [&](store::Session& session) {
        return read_rows(
            session,
            sql::list_jobs,
            listed_job,
            job_number(after).value_or(0),
            limit,
            session.now(),
            filter.queue,
            filter.kind,
            filter.state,
            filter.error,
            filter.created_before,
            filter.created_since,
            filter.key_id
        );
    });
}

std::optional<ListedJob> EmbeddedJobs::find(const std::string& id) {
    const auto number = job_number(id);
    if (!number || *number < 1) return std::nullopt;
    auto found = page({}, std::to_string(*number - 1), 1);
    if (found.empty() || job_number(found.front().id) != number) return std::nullopt;
    return std::move(found.front());
}

CancelResult EmbeddedJobs::cancel(std::span<const std::string> ids, const AuditEntry& act) {
    const auto list = json_list(job_numbers(ids));
    return store::write_now(
        store_,
        [&](store::Session& session) {
            CancelResult done;
            std::vector<std::int64_t> there;
            run_statement(
                session,
                sql::lock_jobs,
                [&](const Row& row) {
                    there.push_back(row.integer(0));
                    if (row.text(1) == "running") ++done.running;
                },
                list
            );
            done.cancelled = static_cast<int>(there.size());
            done.gone = static_cast<int>(ids.size()) - done.cancelled;
            if (there.empty()) return done;
            const auto found = json_list(there);
            const auto now = session.now();
            execute_statement(
                session,
                sql::copy_jobs_to_dead,
                found,
                "cancelled by " + act.by + ": " + act.reason,
                now,
                base::time_text(now),
                act.by
            );
            execute_statement(session, sql::delete_cancelled_jobs, found);
            audit_jobs(session, act, "cancel", std::move(there));
            return done;
        },
        steer_deadline
    );
}

RetryResult EmbeddedJobs::retry_now(std::span<const std::string> ids, const AuditEntry& act) {
    const auto list = json_list(job_numbers(ids));
    return store::write_now(
        store_,
        [&](store::Session& session) {
            auto due =
                read_rows(session, sql::retry_jobs_now, detail::first_number, list, session.now());
            const auto count = static_cast<int>(due.size());
            if (!due.empty()) audit_jobs(session, act, "retry", std::move(due));
            return RetryResult{count, static_cast<int>(ids.size()) - count};
        },
        steer_deadline
    );
}

}  // namespace pawl::queue
