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

using cli::CannotDo;
using cli::WrongUse;

// One run: the commands fill in their options, the one that was chosen sets `act`.
struct Run {
    const CommandLine& line;
    std::ostream& out;
    std::ostream& error;
    bool json{false};
    cli::WhichKey which{};
    cli::KeyFilter filter{};
    cli::Decision decision{};
    cli::UndoAct undo{};
    cli::DeadOptions dead{};
    std::string dead_id{};
    cli::PauseAct pause{};
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
        to.add_option("--key", run.which.key, "Instead: the Idempotency-Key that the client sent");
    id->check(decimal())->excludes(key);
    key->excludes(id);
    to.add_option("--account", run.which.account, "Of this account: who sent the key")->needs(key);
    to.add_option("--tenant", run.which.tenant, "Of this tenant")->needs(key);
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
            "happened: a keeper records --result; did-not-happen: the call "
            "is made again, under a new key; give-up: it ends unfinished"
        )
        ->required()
        ->check(CLI::IsMember({"happened", "did-not-happen", "give-up"}));
    settle->add_option(
        "--result",
        run.decision.result,
        "happened: which result, such as Charge; `graph` shows them"
    );
    settle
        ->add_option(
            "--value", run.decision.value, R"(happened: its fields, such as '{"id": "ch_1"}')"
        )
        ->needs(settle->get_option("--result"));
    settle->add_option("--note", run.decision.note, "Why; for the audit; needed but for a dry run");
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
        "did-not-happen, though the call's time-out and a lease are not over yet"
    );
}

void add_keys(CLI::App& app, Run& run) {
    auto& keys = *app.add_subcommand("keys", "Idempotency keys: list, show, retry, settle");
    keys.require_subcommand(1);
    auto* list = command(keys, run, "list", "Newest first", [](Run& r) {
        cli::list_keys(r.open(), r.filter, r.json, r.out);
    });
    list->add_option("--standing", run.filter.standing, "open, attention or finished")
        ->check(CLI::IsMember({"open", "attention", "finished"}));
    list->add_option("--operation", run.filter.operation, "Of this operation only");
    list->add_option("--account", run.filter.account, "Of this account only");
    list->add_option("--key", run.filter.key, "With this Idempotency-Key only");
    list->add_option("--below", run.filter.below, "Older than the key of this id: the next page")
        ->check(decimal());
    list->add_option("--limit", run.filter.limit, "At most so many")
        ->check(decimal())
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();

    auto* show = command(keys, run, "show", "All that is known of one key", [](Run& r) {
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
        "attention", "Requests that only a person can settle: list, show, settle, undo"
    );
    attention.require_subcommand(1);
    auto* list = command(attention, run, "list", "Oldest first", [](Run& r) {
        cli::list_attention(r.open(), r.limit, r.json, r.out);
    });
    list->add_option("--limit", run.limit, "At most so many")
        ->check(decimal())
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    auto* show = command(attention, run, "show", "One of them, with all that is known", [](Run& r) {
        cli::show_attention(r.open(), r.which, r.json, r.out);
    });
    add_which(*show, run);
    add_settle(attention, run);
    auto* undo = command(
        attention,
        run,
        "undo",
        "Take back what was decided, while no server has carried it out",
        [](Run& r) { cli::undo_settlement_of(r.open(), r.which, r.undo, r.json, r.out); }
    );
    add_which(*undo, run);
    undo->add_option("--note", run.undo.note, "Why; for the audit");
    undo->add_option("--by", run.undo.by, "Who does it, for the audit")->capture_default_str();
}

void add_dead_filter(CLI::App& to, Run& run) {
    const CLI::Validator seconds{cli::age_to_seconds, "30s, 15m, 2h, 3d"};
    auto& filter = run.dead.filter;
    to.add_option("--queue", filter.queue, "Of this queue only");
    to.add_option("--kind", filter.kind, "Of this kind of job only");
    to.add_option(
        "--error-kind", filter.error_kind, "Of this kind of error, as --by-error shows it"
    );
    to.add_option("--error", filter.error, "With this in their error");
    to.add_option("--failures-min", filter.failures_min, "Failed at least so often")
        ->check(decimal())
        ->check(CLI::Range(0, 1'000'000));
    to.add_option("--older-than", run.dead.older_than_s, "Dead for longer than this")
        ->transform(seconds);
    to.add_option("--younger-than", run.dead.younger_than_s, "Dead for less than this")
        ->transform(seconds);
    to.add_option("--sample", run.dead.sample, "So many of them, drawn by lot")
        ->check(decimal())
        ->check(CLI::Range(1, 100'000));
}

void add_dead_act(CLI::App& to, Run& run) {
    to.add_option("id", run.dead.ids, "Their ids, as `dlq list` shows them; or filters");
    add_dead_filter(to, run);
    to.add_flag("--all", run.dead.all, "All that there are");
    to.add_flag("--dry-run", run.dead.dry_run, "Show which it would be, and do nothing");
    to.add_option("--limit", run.dead.limit, "How many --dry-run shows")
        ->check(decimal())
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    to.add_option("--reason", run.dead.act.reason, "Why; for the audit");
    to.add_option("--by", run.dead.act.by, "Who does it, for the audit")->capture_default_str();
}

void export_dead(Run& run) {
    if (run.file.empty()) return cli::export_dead(run.open(), run.dead, run.out);
    std::ofstream file{run.file};
    if (!file) throw CannotDo{"can't write " + run.file};
    cli::export_dead(run.open(), run.dead, file);
}

void add_dead_letters(CLI::App& app, Run& run) {
    auto& dlq = *app.add_subcommand(
        "dlq", "Dead letters, jobs that nobody tries any more: list, show, merge, purge, export"
    );
    dlq.require_subcommand(1);
    auto* list = command(dlq, run, "list", "In the order of their ids", [](Run& r) {
        cli::list_dead(r.open(), r.dead, r.json, r.out);
    });
    add_dead_filter(*list, run);
    list->add_flag("--by-error", run.dead.by_error, "How many of each kind of error, not each job");
    list->add_option("--after", run.dead.after, "With a larger id only: the next page");
    list->add_option("--limit", run.dead.limit, "At most so many")
        ->check(decimal())
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    auto* show = command(dlq, run, "show", "All that is known of one", [](Run& r) {
        cli::show_dead(r.open(), r.dead, r.dead_id, r.json, r.out);
    });
    show->add_option("id", run.dead_id, "As `dlq list` shows it")->required();
    auto* merge =
        command(dlq, run, "merge", "Back into their queue, to be tried again", [](Run& r) {
            cli::check_dead_act(r.dead, "merge");
            if (!cli::merge_dead(r.open(), r.dead, r.json, r.out, r.error)) r.status = 1;
        });
    add_dead_act(*merge, run);
    merge->add_flag(
        "--even-if-forgotten",
        run.dead.even_if_forgotten,
        "Also those whose receiver may have forgotten the first call: it may do it again"
    );
    auto* purge = command(dlq, run, "purge", "Remove them for ever", [](Run& r) {
        cli::check_dead_act(r.dead, "purge");
        if (!cli::purge_dead(r.open(), r.dead, r.json, r.out, r.error)) r.status = 1;
    });
    add_dead_act(*purge, run);
    auto* to_file = command(dlq, run, "export", "A JSON object a line", &export_dead);
    add_dead_filter(*to_file, run);
    for (auto* each : dlq.get_subcommands([](const CLI::App*) { return true; }))
        each->add_flag(
            "--in-database",
            run.dead.in_database,
            "With a queue outside the database: what it refused, and what an embedded one left"
        );
    to_file->add_option("--to", run.file, "Into this file, which is written anew");
}

void add_queues(CLI::App& app, Run& run) {
    auto& queues = *app.add_subcommand("queues", "Queues of jobs: list, pause, resume");
    queues.require_subcommand(1);
    command(queues, run, "list", "What the database knows of them", [](Run& r) {
        cli::list_queues(r.open(), r.json, r.out);
    });
    auto* pause = command(
        queues,
        run,
        "pause",
        "No worker takes a job from it any more; those in hand go on",
        [](Run& r) { cli::pause_queue(r.open(), r.pause, r.json, r.out); }
    );
    auto* resume = command(queues, run, "resume", "Workers take its jobs again", [](Run& r) {
        cli::resume_queue(r.open(), r.pause, r.json, r.out);
    });
    for (auto* act : {pause, resume}) {
        act->add_option("queue", run.pause.queue, "Its name")->capture_default_str();
        act->add_option("--reason", run.pause.reason, "Why; for the audit");
        act->add_option("--by", run.pause.by, "Who does it, for the audit")->capture_default_str();
    }
    pause->get_option("--reason")->required();
}

void add_restored(CLI::App& app, Run& run) {
    constexpr auto text = "Say that the database was restored from a backup: opens an epoch";
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
        "Compare what the provider has booked with what is here: matched, ours alone, theirs alone";
    auto* reconcile = command(app, run, "reconcile", compare, [](Run& r) {
        const auto asked = cli::reconcile_options(r.since, r.until, r.json);
        r.open();
        r.status = r.line.reconcile(asked, r.out);
    });
    reconcile->add_option("--since", run.since, "Made since then, in UTC (24 h ago)");
    reconcile->add_option("--until", run.until, "Made before then (now)");
}

void graph(Run& run) {
    const auto* operation = run.open(Database::As::migration).engine().find(run.operation);
    if (operation == nullptr) throw WrongUse{"there is no operation \"" + run.operation + "\""};
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
        ->add_flag("--once", run.once, "One round by hand: the server does it by itself")
        ->required();
}

void add_services(CLI::App& app, Run& run) {
    add_round(app, run, "reaper", "Remove settled keys that are old, all of them", &reaper);
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

// tests/fuzz/dead_filter.cpp, input error_half_a_character: of such bytes each store says in its
// own way where they are found.
void check_texts(const std::vector<std::string>& words) {
    for (const auto& word : words)
        if (!base::is_utf8(word))
            throw CLI::ValidationError{
                base::storable_error(word), "no UTF-8, which all texts here are"};
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
    // As under cron and systemd, which need not set either. One thread runs here.
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
        );  // CLI11 takes them from the back.
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
    } catch (const CannotDo& cannot) {
        error << line.program << ": " << cannot.why << '\n';
    } catch (const WrongUse& wrong) {
        error << line.program << ": " << wrong.why << '\n';
        return 2;
    } catch (const std::invalid_argument& wrong) {  // Of an option: the database's URL, the lease.
        error << line.program << ": " << wrong.what() << '\n';
        return 2;
    } catch (const std::exception& failed) {
        error << line.program << ": " << failed.what() << '\n';
    }
    return 1;
}

}  // namespace pawl
