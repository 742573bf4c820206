#include "src/cli/jobs.hpp"

#include "src/base/time_text.hpp"
#include "src/base/url.hpp"
#include "src/cli/job_request.hpp"
#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/job_requests.hpp"
#include "src/ops/service_impl.hpp"

#include <chrono>
#include <functional>
#include <span>
#include <utility>

namespace pawl::cli {

namespace {

using queue::ListedJob;
using Text = std::optional<std::string>;

struct JobLine {
    std::string id;
    std::string state;
    Text run_at;
    std::string queue;
    std::string kind;
    int failures{};
    int deaths{};
    std::optional<std::int64_t> key_id;
    std::optional<std::int64_t> request;
    Text request_state;
    Text error;
};

struct JobDetail {
    std::string id;
    std::string state;
    std::string jid;
    std::string queue;
    std::string kind;
    Json args;
    int tries{};
    int failures{};
    int deaths{};
    Text run_at;
    Text lease_until;
    Text called_at;
    std::optional<std::int64_t> key_id;
    std::optional<std::int64_t> request;
    Text request_state;
    std::string created_at;
    Text first_failed_at;
    Text last_failed_at;
    Text error;
    Json history;
};

struct CancelOutcome {
    std::int64_t cancelled{};
    std::int64_t running{};
    std::int64_t gone{};
    std::int64_t held{};
    std::int64_t at_work{};
};

struct RetryOutcome {
    std::int64_t due{};
    std::int64_t left{};
};

Line<JobLine> line_of(const ListedJob& job) {
    return {
        {job.id,
         job.state,
         text_of_time(job.run_at),
         job.queue,
         job.kind,
         job.failures,
         job.deaths,
         job.key_id,
         request_id(job.request),
         request_state(job.request),
         job.error},
        job.damaged};
}

Line<JobDetail> detail_of(const ListedJob& job) {
    return {
        {job.id,
         job.state,
         job.jid,
         job.queue,
         job.kind,
         Json{job.args},
         job.tries,
         job.failures,
         job.deaths,
         text_of_time(job.run_at),
         text_of_time(job.lease_until),
         text_of_time(job.called_at),
         job.key_id,
         request_id(job.request),
         request_state(job.request),
         base::time_text(job.created_at),
         text_of_time(job.first_failed_at),
         text_of_time(job.last_failed_at),
         job.error,
         Json{job.history}},
        job.damaged};
}

ops::RequestsOfJobs jobs_of(Service& service, const JobOptions& options) {
    auto& impl = service.impl();
    auto& store = service.engine().store();
    if (options.in_database) return {store, impl.jobs_of_database};
    if (!impl.jobs_of_queues)
        throw CommandFailed{
            "the jobs are in " + base::without_password(service.options().queue) +
            ", and Kafka can neither search nor change single jobs. `queues list` counts them, "
            "`queues pause` stops their queue, `dlq` acts on those that failed for good; "
            "--in-database shows jobs that are in the database all the same"};
    return {store, *impl.jobs_of_queues};
}

queue::JobFilter filter_of(Service& service, const JobOptions& options) {
    auto filter = options.filter;
    const auto now = service.engine().clock().now();
    if (options.older_than_s)
        filter.created_before = now - std::chrono::seconds{*options.older_than_s};
    if (options.younger_than_s)
        filter.created_since = now - std::chrono::seconds{*options.younger_than_s};
    return filter;
}

bool has_filter(const JobOptions& options) {
    const auto& filter = options.filter;
    return filter.queue || filter.kind || filter.state || filter.error || filter.key_id ||
           options.older_than_s || options.younger_than_s;
}

void print_jobs(const std::vector<ListedJob>& jobs, bool json, std::ostream& out) {
    std::vector<Line<JobLine>> lines;
    for (const auto& job : jobs) lines.push_back(line_of(job));
    print_rows(out, lines, json, "No job matches.");
}

void each_batch(
    Service& service,
    queue::Jobs& jobs,
    const JobOptions& options,
    const std::function<void(std::span<const std::string>)>& f
) {
    const ops::JobChoice choice{options.ids, filter_of(service, options)};
    ops::each_job_batch(jobs, choice, service.engine().clock().now(), f);
}

void print_dry_run(Service& service, const JobOptions& options, bool json, std::ostream& out) {
    auto jobs = jobs_of(service, options);
    std::vector<ListedJob> chosen;
    for (const auto& id : options.ids)
        if (auto job = jobs.find(id)) chosen.push_back(std::move(*job));
    if (options.ids.empty())
        chosen = jobs.page(filter_of(service, options), options.after, options.limit);
    print_jobs(chosen, json, out);
    if (json) return;
    auto total = std::ssize(chosen);
    if (options.ids.empty() && total == options.limit) {
        total = 0;
        each_batch(service, jobs, options, [&](std::span<const std::string> ids) {
            total += std::ssize(ids);
        });
    }
    print_choice(out, total, std::ssize(chosen), "job");
}

}  // namespace

void check_job_act(const JobOptions& options, const std::string& verb) {
    if (!options.ids.empty() && (has_filter(options) || options.all))
        throw UsageError{"give ids or filters, not both"};
    if (options.ids.empty() && !has_filter(options) && !options.all)
        throw UsageError{
            "no jobs chosen: give ids, a filter such as --kind or --state, or --all. `jobs list` "
            "with the same filter shows them"};
    if (options.act.reason.empty() && !options.dry_run)
        throw UsageError{
            "--reason is missing: it is recorded in the audit of every job that you " + verb};
}

void list_jobs(Service& service, const JobOptions& options, bool json, std::ostream& out) {
    auto jobs = jobs_of(service, options);
    const auto found = jobs.page(filter_of(service, options), options.after, options.limit);
    print_jobs(found, json, out);
    if (!json && std::ssize(found) == options.limit)
        out << "There may be more: --after " << found.back().id << '\n';
}

void show_job(
    Service& service, const JobOptions& options, const std::string& id, bool json, std::ostream& out
) {
    const auto job = jobs_of(service, options).find(id);
    if (!job)
        throw CommandFailed{
            "there is no job " + id +
            ": it is finished, dead (`dlq list`), or still staged for an external queue"};
    print_row(out, detail_of(*job), json);
}

void cancel_jobs(Service& service, const JobOptions& options, bool json, std::ostream& out) {
    if (options.dry_run) return print_dry_run(service, options, json, out);
    auto jobs = jobs_of(service, options);
    CancelOutcome all;
    each_batch(service, jobs, options, [&](std::span<const std::string> ids) {
        const auto done = jobs.cancel(ids, options.act);
        all.cancelled += done.cancelled;
        all.running += done.running;
        all.gone += done.gone;
        all.held += done.held;
        all.at_work += done.at_work;
    });
    if (json) {
        print_row(out, all, true);
    } else {
        out << all.cancelled << " cancelled";
        if (all.running > 0)
            out << ", " << all.running
                << " of them while a worker had them: a call that was made is not undone";
        if (all.gone > 0) out << ", " << all.gone << " not found";
        out << ".\n";
        if (all.cancelled > 0) out << "They are dead letters now; `dlq merge` brings them back.\n";
        if (all.held > 0)
            out << all.held
                << " of them are operations: their requests are on hold now, and nobody goes on "
                   "with them. `dlq merge` and `keys release` end a hold; `attention add` and "
                   "`attention settle --as give-up` end the request.\n";
        if (all.at_work > 0)
            out << all.at_work << " of these have an attempt at work, which may still end.\n";
    }
    if (all.gone > 0 && all.cancelled == 0)
        throw CommandFailed{"none of these jobs is there: they are finished, or dead"};
}

void retry_jobs(Service& service, const JobOptions& options, bool json, std::ostream& out) {
    if (options.dry_run) return print_dry_run(service, options, json, out);
    auto jobs = jobs_of(service, options);
    RetryOutcome all;
    each_batch(service, jobs, options, [&](std::span<const std::string> ids) {
        const auto done = jobs.retry_now(ids, options.act);
        all.due += done.due;
        all.left += done.left;
    });
    if (json) {
        print_row(out, all, true);
    } else {
        out << all.due << " due now";
        if (all.left > 0) out << ", " << all.left << " left";
        out << ".\n";
    }
    if (all.left > 0 && all.due == 0)
        throw CommandFailed{"all of these jobs are running, due before, or not there"};
}

}  // namespace pawl::cli
