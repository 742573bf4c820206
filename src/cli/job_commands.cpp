#include "src/cli/job_commands.hpp"

#include "src/cli/numbers.hpp"
#include "src/cli/output.hpp"

#include <fstream>

namespace pawl::cli {

namespace {

const CLI::Validator& age() {
    static const CLI::Validator validator{age_to_seconds, "30s, 15m, 2h, 3d"};
    return validator;
}

// What acts on many jobs has, whether they are dead or not.
template <class Options>
void add_act(CLI::App& to, Options& options, const std::string& command, const std::string& all) {
    to.add_option("id", options.ids, "Ids, as `" + command + " list` shows them; or use filters");
    to.add_flag("--all", options.all, all);
    to.add_flag("--dry-run", options.dry_run, "Show the chosen jobs, change nothing");
    add_limit(to, options.limit, "How many --dry-run shows");
    to.add_option("--reason", options.act.reason, "Reason, for the audit");
    to.add_option("--by", options.act.by, "Who does it, for the audit")->capture_default_str();
}

void add_job_filter(CLI::App& to, Run& run) {
    auto& filter = run.jobs.filter;
    // Not --queue, which is the service's.
    to.add_option("--queue-name", filter.queue, "Only jobs of this queue");
    to.add_option("--kind", filter.kind, "Only jobs of this kind");
    to.add_option(
          "--state",
          filter.state,
          "due; later: its first try is not due yet; retrying: it waits for its next try; or "
          "running"
    )
        ->check(CLI::IsMember({"due", "later", "retrying", "running"}));
    to.add_option("--error", filter.error, "Only jobs whose last error contains this text");
    to.add_option("--key-id", filter.key_id, "Only jobs of this request: its key's id")
        ->check(decimal());
    to.add_option("--older-than", run.jobs.older_than_s, "Only jobs staged longer ago than this")
        ->transform(age());
    to.add_option("--younger-than", run.jobs.younger_than_s, "Only jobs staged since then")
        ->transform(age());
}

void add_job_act(CLI::App& to, Run& run) {
    add_act(to, run.jobs, "jobs", "All jobs");
    add_job_filter(to, run);
}

void add_jobs(CLI::App& app, Run& run) {
    auto& jobs = *app.add_subcommand(
        "jobs", "Jobs that are not finished, also between two tries: list, show, cancel, retry"
    );
    jobs.require_subcommand(1);
    auto* list = command(jobs, run, "list", "Ordered by id", [](Run& r) {
        list_jobs(r.open(), r.jobs, r.json, r.out);
    });
    add_job_filter(*list, run);
    list->add_option("--after", run.jobs.after, "Only larger ids: the next page");
    add_limit(*list, run.jobs.limit, "Most jobs to show");
    auto* show = command(jobs, run, "show", "Show one job in full", [](Run& r) {
        show_job(r.open(), r.jobs, r.job_id, r.json, r.out);
    });
    show->add_option("id", run.job_id, "Its id, as `jobs list` shows it")->required();
    auto* cancel = command(
        jobs,
        run,
        "cancel",
        "Move jobs to the dead letters; a running handler is asked to stop",
        [](Run& r) {
            check_job_act(r.jobs, "cancel");
            cancel_jobs(r.open(), r.jobs, r.json, r.out);
        }
    );
    add_job_act(*cancel, run);
    auto* retry =
        command(jobs, run, "retry", "Let jobs that wait for a later time be due now", [](Run& r) {
            check_job_act(r.jobs, "retry");
            retry_jobs(r.open(), r.jobs, r.json, r.out);
        });
    add_job_act(*retry, run);
    for (auto* each : {list, show, cancel, retry})
        each->add_flag(
            "--in-database",
            run.jobs.in_database,
            "With an external queue: jobs left in the embedded queue's table"
        );
}

void add_dead_filter(CLI::App& to, Run& run) {
    auto& filter = run.dead.filter;
    // Not --queue, which is the service's.
    to.add_option("--queue-name", filter.queue, "Only jobs of this queue");
    to.add_option("--kind", filter.kind, "Only jobs of this kind");
    to.add_option(
        "--error-kind", filter.error_kind, "Only this kind of error, as --by-error shows it"
    );
    to.add_option("--error", filter.error, "Only errors that contain this text");
    to.add_option("--failures-min", filter.failures_min, "Only jobs with at least so many failures")
        ->check(decimal())
        ->check(CLI::Range(0, 1'000'000));
    to.add_option("--older-than", run.dead.older_than_s, "Only jobs dead for longer than this")
        ->transform(age());
    to.add_option("--younger-than", run.dead.younger_than_s, "Only jobs dead for less than this")
        ->transform(age());
    to.add_option("--sample", run.dead.sample, "A random sample of so many jobs")
        ->check(decimal())
        ->check(CLI::Range(1, 100'000));
}

void add_dead_act(CLI::App& to, Run& run) {
    add_act(to, run.dead, "dlq", "All dead letters");
    add_dead_filter(to, run);
}

void export_dead(Run& run) {
    if (run.file.empty()) return export_dead(run.open(), run.dead, run.out);
    std::ofstream file{run.file};
    if (!file) throw CommandFailed{"can't write " + run.file};
    export_dead(run.open(), run.dead, file);
}

void add_dead_letters(CLI::App& app, Run& run) {
    auto& dlq = *app.add_subcommand(
        "dlq", "Dead letters, jobs that are not tried any more: list, show, merge, purge, export"
    );
    dlq.require_subcommand(1);
    auto* list = command(dlq, run, "list", "Ordered by id", [](Run& r) {
        list_dead(r.open(), r.dead, r.json, r.out);
    });
    add_dead_filter(*list, run);
    list->add_flag("--by-error", run.dead.by_error, "Count jobs per kind of error");
    list->add_option("--after", run.dead.after, "Only larger ids: the next page");
    add_limit(*list, run.dead.limit, "Most jobs to show");
    auto* show = command(dlq, run, "show", "Show one dead letter in full", [](Run& r) {
        show_dead(r.open(), r.dead, r.dead_id, r.json, r.out);
    });
    show->add_option("id", run.dead_id, "Its id, as `dlq list` shows it")->required();
    auto* merge =
        command(dlq, run, "merge", "Put jobs back into their queue (redrive)", [](Run& r) {
            check_dead_act(r.dead, "merge");
            if (!merge_dead(r.open(), r.dead, r.json, r.out, r.error)) r.status = 1;
        });
    add_dead_act(*merge, run);
    merge->add_flag(
        "--even-if-forgotten",
        run.dead.even_if_forgotten,
        "Include jobs whose receiver may have forgotten the first call and may repeat it"
    );
    auto* purge = command(dlq, run, "purge", "Remove jobs for ever", [](Run& r) {
        check_dead_act(r.dead, "purge");
        if (!purge_dead(r.open(), r.dead, r.json, r.out, r.error)) r.status = 1;
    });
    add_dead_act(*purge, run);
    auto* to_file = command(dlq, run, "export", "Write one JSON object per line", &export_dead);
    add_dead_filter(*to_file, run);
    for (auto* each : dlq.get_subcommands([](const CLI::App*) { return true; }))
        each->add_flag(
            "--in-database",
            run.dead.in_database,
            "With an external queue: the dead letters that are in the database"
        );
    to_file->add_option("--to", run.file, "Write to this file, replacing it");
}

void add_queues(CLI::App& app, Run& run) {
    auto& queues = *app.add_subcommand("queues", "Queues of jobs: list, pause, resume");
    queues.require_subcommand(1);
    command(queues, run, "list", "List queues and their jobs", [](Run& r) {
        list_queues(r.open(), r.json, r.out);
    });
    auto* pause =
        command(queues, run, "pause", "Stop taking jobs from it; jobs in flight go on", [](Run& r) {
            pause_queue(r.open(), r.pause, r.json, r.out);
        });
    auto* resume = command(queues, run, "resume", "Take jobs from it again", [](Run& r) {
        resume_queue(r.open(), r.pause, r.json, r.out);
    });
    for (auto* act : {pause, resume}) {
        act->add_option("queue", run.pause.queue, "Its name")->capture_default_str();
        act->add_option("--reason", run.pause.reason, "Reason, for the audit");
        act->add_option("--by", run.pause.by, "Who does it, for the audit")->capture_default_str();
    }
    pause->get_option("--reason")->required();
}

void add_schedules(CLI::App& app, Run& run) {
    auto& schedules = *app.add_subcommand("schedules", "When periodic jobs are staged: list");
    schedules.require_subcommand(1);
    command(schedules, run, "list", "List them with their next and last ticks", [](Run& r) {
        list_schedules(r.open(), r.json, r.out);
    });
}

}  // namespace

void add_job_commands(CLI::App& app, Run& run) {
    add_jobs(app, run);
    add_dead_letters(app, run);
    add_queues(app, run);
    add_schedules(app, run);
}

}  // namespace pawl::cli
