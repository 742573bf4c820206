#include <pawl/command_line.hpp>
#include <pawl/error.hpp>

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/cli/dead_letters.hpp"
#include "src/cli/graph.hpp"
#include "src/cli/keys.hpp"
#include "src/cli/numbers.hpp"
#include "src/cli/output.hpp"
#include "src/cli/queues.hpp"
#include "src/cli/restored.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <CLI/CLI.hpp>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace pawl {

namespace {

using cli::CommandFailed;
using cli::UsageError;

// One run: the commands fill in their options; the chosen one sets `act`.
struct Run {
    const CommandLine& line;
    std::ostream& out;
    std::ostream& error;
    bool json{false};
    cli::KeySelector which{};
    cli::KeyFilter filter{};
    cli::Decision decision{};
    cli::UndoRequest undo{};
    cli::DeadOptions dead{};
    std::string dead_id{};
    cli::PauseRequest pause{};
    cli::RestoredOptions restored{};
    std::string since{};
    std::string until{};
    std::string file{};
    std::string operation{};
    bool once{false};
    int limit{50};
    int status{0};  // The exit code.
    std::function<void(Run&)> act{};

    Service& open(Database::As as = Database::As::tool) const { return line.open(as); }
};

const CLI::Validator& decimal() {
    static const CLI::Validator validator{check_decimal, ""};
    return validator;
}

void add_limit(CLI::App& to, int& limit, const std::string& text) {
    to.add_option("--limit", limit, text)
        ->check(decimal())
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
}

struct MigrationLine {
    std::string owner;
    std::string name;
    std::string applied_at;
};

CLI::App* command(
    CLI::App& in, Run& run, const std::string& name, const std::string& text, void (*act)(Run&)
) {
    auto* made = in.add_subcommand(name, text);
    made->add_flag("--json", run.json, "One JSON document instead of text for people");
    made->callback([&run, act] { run.act = act; });
    return made;
}

void add_which(CLI::App& to, Run& run) {
    auto* id = to.add_option("id", run.which.id, "Number of the key, as `keys list` shows it");
    auto* key =
        to.add_option("--key", run.which.key, "Instead of id: the client's Idempotency-Key");
    id->check(decimal())->excludes(key);
    key->excludes(id);
    to.add_option("--account", run.which.account, "Account that sent the key")->needs(key);
    to.add_option("--tenant", run.which.tenant, "Tenant of the account")->needs(key);
}

void add_settle(CLI::App& to, Run& run) {
    auto* settle = command(to, run, "settle", "Decide a key of the attention list", [](Run& r) {
        cli::check_note(r.decision);
        cli::settle_key(r.open(), r.which, r.decision, r.json, r.out);
    });
    add_which(*settle, run);
    settle
        ->add_option(
            "--as",
            run.decision.settlement,
            "happened: --result is recorded; did-not-happen: the call "
            "is repeated with a new key; give-up: the request ends unfinished"
        )
        ->required()
        ->check(CLI::IsMember({"happened", "did-not-happen", "give-up"}));
    settle->add_option(
        "--result", run.decision.result, "happened: its result, such as Charge; `graph` lists them"
    );
    settle
        ->add_option(
            "--value", run.decision.value, R"(happened: its fields, such as '{"id": "ch_1"}')"
        )
        ->needs(settle->get_option("--result"));
    settle->add_option("--note", run.decision.note, "Reason, for the audit; a dry run needs none");
    settle->add_option("--by", run.decision.by, "Who decides, for the audit")
        ->capture_default_str();
    settle->add_flag(
        "--dry-run",
        run.decision.dry_run,
        "Show what will be done and the customer's answer, and record nothing"
    );
    settle->add_flag(
        "--force",
        run.decision.force,
        "Allow did-not-happen before the call's time-out and a lease are over"
    );
}

void add_keys(CLI::App& app, Run& run) {
    auto& keys = *app.add_subcommand("keys", "Idempotency keys: list, show, retry, settle");
    keys.require_subcommand(1);
    auto* list = command(keys, run, "list", "Newest first", [](Run& r) {
        cli::list_keys(r.open(), r.filter, r.json, r.out);
    });
    list->add_option("--status", run.filter.status, "open, attention or finished")
        ->check(CLI::IsMember({"open", "attention", "finished"}));
    list->add_option("--operation", run.filter.operation, "Only keys of this operation");
    list->add_option("--account", run.filter.account, "Only keys of this account");
    list->add_option("--key", run.filter.key, "Only this Idempotency-Key");
    list->add_option("--below", run.filter.below, "Only keys with a smaller id: the next page")
        ->check(decimal());
    add_limit(*list, run.filter.limit, "Most keys to show");

    auto* show = command(keys, run, "show", "Show one key in full", [](Run& r) {
        cli::show_key(r.open(), r.which, r.json, r.out);
    });
    add_which(*show, run);

    auto* retry = command(
        keys,
        run,
        "retry",
        "Let the completer try an open key at its next round",
        [](Run& r) { cli::retry_key(r.open(), r.which, r.decision.by, r.json, r.out); }
    );
    add_which(*retry, run);
    retry->add_option("--by", run.decision.by, "Who does it, for the audit")->capture_default_str();
    add_settle(keys, run);
}

void add_attention(CLI::App& app, Run& run) {
    auto& attention = *app.add_subcommand(
        "attention", "Requests that an operator must settle: list, show, settle, undo"
    );
    attention.require_subcommand(1);
    auto* list = command(attention, run, "list", "Oldest first", [](Run& r) {
        cli::list_attention(r.open(), r.limit, r.json, r.out);
    });
    add_limit(*list, run.limit, "Most requests to show");
    auto* show = command(attention, run, "show", "Show one request in full", [](Run& r) {
        cli::show_attention(r.open(), r.which, r.json, r.out);
    });
    add_which(*show, run);
    add_settle(attention, run);
    auto* undo = command(
        attention,
        run,
        "undo",
        "Undo a decision that no server has carried out yet",
        [](Run& r) { cli::undo_settlement_of(r.open(), r.which, r.undo, r.json, r.out); }
    );
    add_which(*undo, run);
    undo->add_option("--note", run.undo.note, "Reason, for the audit");
    undo->add_option("--by", run.undo.by, "Who undoes it, for the audit")->capture_default_str();
}

void add_dead_filter(CLI::App& to, Run& run) {
    const CLI::Validator seconds{cli::age_to_seconds, "30s, 15m, 2h, 3d"};
    auto& filter = run.dead.filter;
    to.add_option("--queue", filter.queue, "Only jobs of this queue");
    to.add_option("--kind", filter.kind, "Only jobs of this kind");
    to.add_option(
        "--error-kind", filter.error_kind, "Only this kind of error, as --by-error shows it"
    );
    to.add_option("--error", filter.error, "Only errors that contain this text");
    to.add_option("--failures-min", filter.failures_min, "Only jobs with at least so many failures")
        ->check(decimal())
        ->check(CLI::Range(0, 1'000'000));
    to.add_option("--older-than", run.dead.older_than_s, "Only jobs dead for longer than this")
        ->transform(seconds);
    to.add_option("--younger-than", run.dead.younger_than_s, "Only jobs dead for less than this")
        ->transform(seconds);
    to.add_option("--sample", run.dead.sample, "A random sample of so many jobs")
        ->check(decimal())
        ->check(CLI::Range(1, 100'000));
}

void add_dead_act(CLI::App& to, Run& run) {
    to.add_option("id", run.dead.ids, "Ids, as `dlq list` shows them; or use filters");
    add_dead_filter(to, run);
    to.add_flag("--all", run.dead.all, "All dead letters");
    to.add_flag("--dry-run", run.dead.dry_run, "Show the chosen jobs, change nothing");
    add_limit(to, run.dead.limit, "How many --dry-run shows");
    to.add_option("--reason", run.dead.act.reason, "Reason, for the audit");
    to.add_option("--by", run.dead.act.by, "Who does it, for the audit")->capture_default_str();
}

void export_dead(Run& run) {
    if (run.file.empty()) return cli::export_dead(run.open(), run.dead, run.out);
    std::ofstream file{run.file};
    if (!file) throw CommandFailed{"can't write " + run.file};
    cli::export_dead(run.open(), run.dead, file);
}

void add_dead_letters(CLI::App& app, Run& run) {
    auto& dlq = *app.add_subcommand(
        "dlq", "Dead letters, jobs that are not tried any more: list, show, merge, purge, export"
    );
    dlq.require_subcommand(1);
    auto* list = command(dlq, run, "list", "Ordered by id", [](Run& r) {
        cli::list_dead(r.open(), r.dead, r.json, r.out);
    });
    add_dead_filter(*list, run);
    list->add_flag("--by-error", run.dead.by_error, "Count jobs per kind of error");
    list->add_option("--after", run.dead.after, "Only larger ids: the next page");
    add_limit(*list, run.dead.limit, "Most jobs to show");
    auto* show = command(dlq, run, "show", "Show one dead letter in full", [](Run& r) {
        cli::show_dead(r.open(), r.dead, r.dead_id, r.json, r.out);
    });
    show->add_option("id", run.dead_id, "Its id, as `dlq list` shows it")->required();
    auto* merge =
        command(dlq, run, "merge", "Put jobs back into their queue (redrive)", [](Run& r) {
            cli::check_dead_act(r.dead, "merge");
            if (!cli::merge_dead(r.open(), r.dead, r.json, r.out, r.error)) r.status = 1;
        });
    add_dead_act(*merge, run);
    merge->add_flag(
        "--even-if-forgotten",
        run.dead.even_if_forgotten,
        "Include jobs whose receiver may have forgotten the first call and may repeat it"
    );
    auto* purge = command(dlq, run, "purge", "Remove jobs for ever", [](Run& r) {
        cli::check_dead_act(r.dead, "purge");
        if (!cli::purge_dead(r.open(), r.dead, r.json, r.out, r.error)) r.status = 1;
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
        cli::list_queues(r.open(), r.json, r.out);
    });
    auto* pause =
        command(queues, run, "pause", "Stop taking jobs from it; jobs in flight go on", [](Run& r) {
            cli::pause_queue(r.open(), r.pause, r.json, r.out);
        });
    auto* resume = command(queues, run, "resume", "Take jobs from it again", [](Run& r) {
        cli::resume_queue(r.open(), r.pause, r.json, r.out);
    });
    for (auto* act : {pause, resume}) {
        act->add_option("queue", run.pause.queue, "Its name")->capture_default_str();
        act->add_option("--reason", run.pause.reason, "Reason, for the audit");
        act->add_option("--by", run.pause.by, "Who does it, for the audit")->capture_default_str();
    }
    pause->get_option("--reason")->required();
}

void add_restored(CLI::App& app, Run& run) {
    constexpr auto text = "Record that the database was restored from a backup: opens an epoch";
    cli::add_restored_options(
        *command(
            app,
            run,
            "restored",
            text,
            [](Run& r) { cli::record_restore(r.open(), r.restored, r.json, r.out); }
        ),
        run.restored
    );
    if (!run.line.reconcile) return;
    constexpr auto compare =
        "Compare the provider's records with ours: matched, only ours, only theirs";
    auto* reconcile = command(app, run, "reconcile", compare, [](Run& r) {
        const auto asked = cli::reconcile_options(r.since, r.until, r.json);
        r.open();
        r.status = r.line.reconcile(asked, r.out);
    });
    reconcile->add_option("--since", run.since, "Only records from then on, in UTC (24 h ago)");
    reconcile->add_option("--until", run.until, "Only records before then (now)");
}

void graph(Run& run) {
    const auto* operation = run.open(Database::As::migration).engine().find(run.operation);
    if (operation == nullptr) throw UsageError{"there is no operation \"" + run.operation + "\""};
    cli::print_graph(*operation, run.json, run.out);
}

void migrate(Run& run) {
    auto& store = run.open(Database::As::migration).engine().store();
    std::vector<MigrationLine> lines;
    store::read_now(store, [&](store::Session& session) {
        detail::run_statement(session, sql::list_migrations, [&](const detail::Row& row) {
            lines.push_back(detail::row_as<MigrationLine>(row, sql::list_migrations.name));
        });
    });
    cli::print_rows(run.out, lines, run.json, "There are no migrations.");
}

void completer(Run& run) {
    const auto report = run.open().impl().completer.run_once();
    cli::print_row(run.out, report, run.json);
    if (report.failed + report.stranded + report.settling_failed > 0) run.status = 1;
}

void reaper(Run& run) {
    auto& service = run.open();
    ops::ReaperReport all;
    while (true) {
        const auto report = service.impl().reaper.run_once(service.engine().clock().now());
        all.reaped += report.reaped;
        all.forgotten += report.forgotten;
        all.done_forgotten += report.done_forgotten;
        all.windows_forgotten += report.windows_forgotten;
        all.not_removed = report.not_removed;
        if (report.reaped + report.forgotten + report.done_forgotten + report.windows_forgotten ==
            0)
            break;
    }
    cli::print_row(run.out, all, run.json);
}

void add_round(CLI::App& app, Run& run, const char* name, const char* text, void (*act)(Run&)) {
    command(app, run, name, text, act)
        ->add_flag("--once", run.once, "Run one round; a server does it by itself")
        ->required();
}

void add_services(CLI::App& app, Run& run) {
    add_round(app, run, "reaper", "Remove all old settled keys", &reaper);
    command(
        app,
        run,
        "migrate",
        "Bring the database to this program's schema; the server must be stopped",
        &migrate
    );
    if (!run.line.knows_operations) return;
    add_round(
        app,
        run,
        "completer",
        "Finish dropped requests and carry out decisions, one round",
        &completer
    );
    command(app, run, "graph", "The flow of an operation as a Mermaid diagram", &graph)
        ->add_option("operation", run.operation, "Its name, such as book_ride")
        ->required();
}

void add_commands(CLI::App& app, Run& run) {
    app.require_subcommand(1);
    add_keys(app, run);
    add_attention(app, run);
    add_dead_letters(app, run);
    add_queues(app, run);
    add_services(app, run);
    add_restored(app, run);
}

// Each store reports invalid bytes in its own way and place (tests/fuzz/dead_filter.cpp, input
// error_half_a_character).
void check_texts(const std::vector<std::string>& words) {
    for (const auto& word : words)
        if (!base::is_utf8(word))
            throw CLI::ValidationError{
                base::sanitized_error(word), "not UTF-8, as all texts here must be"};
}

}  // namespace

bool is_command(std::string_view word, bool knows_operations) {
    CommandLine line;
    line.knows_operations = knows_operations;
    if (knows_operations) line.reconcile = [](const ReconcileOptions&, std::ostream&) { return 0; };
    std::ostringstream nowhere;
    Run run{.line = line, .out = nowhere, .error = nowhere};
    CLI::App app;
    add_commands(app, run);
    const auto is_it = [&](const CLI::App* one) { return one->get_name() == word; };
    return !app.get_subcommands(is_it).empty();
}

std::string operator_name() {
    for (const auto* variable : {"SUDO_USER", "USER"})
        if (const char* name = std::getenv(variable); name != nullptr && *name != '\0') return name;
    // cron and systemd may leave both unset. Only one thread runs here.
    const auto uid = ::getuid();
    const auto* user = ::getpwuid(uid);
    return user != nullptr ? user->pw_name : "uid " + std::to_string(uid);
}

int command_line(
    const CommandLine& line,
    const std::vector<std::string>& arguments,
    std::ostream& out,
    std::ostream& error
) {
    Run run{.line = line, .out = out, .error = error};
    run.decision.by = run.undo.by = run.dead.act.by = run.pause.by = run.restored.by = line.user;
    run.decision.checked = line.knows_operations;
    CLI::App app{"Keys, jobs and dead letters, for operators", line.program};
    app.footer(line.options_help);
    add_commands(app, run);
    try {
        check_texts(arguments);
        app.parse(std::vector<std::string>{arguments.rbegin(), arguments.rend()}
        );  // CLI11 reads them from the back.
        const bool id_wanted = app.got_subcommand("keys") || app.got_subcommand("attention");
        const auto& chosen = *app.get_subcommands().front();
        if (id_wanted && !chosen.get_subcommands().empty() &&
            chosen.get_subcommands().front()->get_name() != "list" && !run.which.id &&
            !run.which.key)
            throw CLI::RequiredError{"id or --key"};
        run.act(run);
        return run.status;
    } catch (const CLI::ParseError& wrong) {
        return app.exit(wrong, out, error) == 0 ? 0 : 2;
    } catch (const CommandFailed& cannot) {
        error << line.program << ": " << cannot.why << '\n';
    } catch (const UsageError& wrong) {
        error << line.program << ": " << wrong.why << '\n';
        return 2;
    } catch (const std::invalid_argument& wrong) {  // An option: the database's URL, the lease.
        error << line.program << ": " << wrong.what() << '\n';
        return 2;
    } catch (const std::exception& failed) {
        error << line.program << ": " << failed.what() << '\n';
    }
    return 1;
}

}  // namespace pawl
