#include <pawl/command_line.hpp>
#include <pawl/error.hpp>

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/base/visible_text.hpp"
#include "src/cli/audit.hpp"
#include "src/cli/check.hpp"
#include "src/cli/doctor/doctor.hpp"
#include "src/cli/graph.hpp"
#include "src/cli/job_commands.hpp"
#include "src/cli/keys.hpp"
#include "src/cli/output.hpp"
#include "src/cli/points.hpp"
#include "src/cli/providers.hpp"
#include "src/cli/restored.hpp"
#include "src/cli/run.hpp"
#include "src/cli/shell/shell.hpp"
#include "src/cli/stuck.hpp"
#include "src/cli/timeline.hpp"
#include "src/cli/top/top.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "store/statements.hpp"

#include <CLI/CLI.hpp>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <sstream>
#include <stdexcept>

namespace pawl {

namespace {

using cli::add_key_selector;
using cli::add_limit;
using cli::command;
using cli::CommandFailed;
using cli::decimal;
using cli::Run;
using cli::UsageError;

struct MigrationLine {
    std::string owner;
    std::string name;
    std::string applied_at;
};

void settle_keys(Run& run) {
    const auto& many = run.settle_many;
    const bool one = run.which.id || run.which.key;
    if (one == many.selects_many())
        throw UsageError{
            one ? "give a key or filters, not both"
                : "no key chosen: give an id, --key, --from, a filter such as --reason-is, or "
                  "--all"};
    if (!many.from.empty() && many.has_filter())
        throw UsageError{"--from has the keys of its lines: give a file or filters, not both"};
    if (!one && !run.decision.result.empty())
        throw UsageError{"--result is for one key: --from FILE has the result of each"};
    if (run.decision.settlement != "happened" && !run.decision.result.empty())
        throw UsageError{
            "--result is what happened: --as " + run.decision.settlement + " has none"};
    if (!many.from.empty() && run.decision.settlement != "happened")
        throw UsageError{"--from has results, which only --as happened takes"};
    cli::check_note(run.decision);
    if (one) return cli::settle_key(run.open(), run.which, run.decision, run.json, run.out);
    if (!cli::settle_many(run.open(), many, run.decision, run.json, run.out, run.error))
        run.status = 1;
}

void add_settle_many(CLI::App& to, cli::SettleManyOptions& options) {
    to.add_flag("--all", options.all, "All undecided entries that the filters leave");
    to.add_option("--operation", options.choice.operation, "Only entries of this operation");
    to.add_option("--point", options.choice.point, "Only entries at this recovery point");
    to.add_option("--reason-is", options.choice.reason, "Only with this reason, such as stuck");
    to.add_option("--error", options.choice.error, "Only entries whose detail contains this text");
    to.add_option("--limit", options.choice.count_max, "At most so many entries, the oldest first")
        ->check(decimal())
        ->check(CLI::PositiveNumber);
    to.add_option(
        "--from",
        options.from,
        R"(happened: a file with a line such as {"id": 17, "result": "Charge", "value": {...}} for each)"
    );
}

void add_settle(CLI::App& to, Run& run) {
    auto* settle =
        command(to, run, "settle", "Decide keys of the attention list: one, or many", &settle_keys);
    add_key_selector(*settle, run);
    add_settle_many(*settle, run.settle_many);
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

void list_keys(Run& run) {
    if (!run.filter.stuck) return cli::list_keys(run.open(), run.filter, run.json, run.out);
    const auto stranded =
        run.line.knows_operations ? cli::ShowStranded::yes : cli::ShowStranded::no;
    cli::list_stuck_keys(run.open(), stranded, run.filter.wanted.limit, run.json, run.out);
}

void add_keys(CLI::App& app, Run& run) {
    auto& keys = *app.add_subcommand(
        "keys",
        "Idempotency keys: list, unrecorded, search, show, timeline, retry, hold, release, settle"
    );
    keys.require_subcommand(1);
    auto* list = command(keys, run, "list", "Newest first", &list_keys);
    cli::add_key_filter(*list, run.filter);
    cli::add_stuck(*list, run.filter);

    auto* unrecorded = command(
        keys,
        run,
        "unrecorded",
        "Results of calls that wait to be recorded (PAWL0019), by error",
        [](Run& r) { cli::list_unrecorded_results(r.open(), r.limit, r.json, r.out); }
    );
    add_limit(*unrecorded, run.limit, "Most errors to show");

    auto* search = command(
        keys,
        run,
        "search",
        "Find keys by an id of the request, of a ride, of a charge ...: newest first",
        [](Run& r) { cli::list_keys(r.open(), r.filter, r.json, r.out); }
    );
    search->add_option(
        "text",
        run.filter.wanted.text,
        "Idempotency-Key, X-Request-Id, or an id that the operation named"
    );
    cli::add_key_filter(*search, run.filter);

    auto* show = command(keys, run, "show", "Show one key in full", [](Run& r) {
        cli::show_key(r.open(), r.which, r.json, r.out);
    });
    add_key_selector(*show, run);

    auto* timeline = command(
        keys,
        run,
        "timeline",
        "What happened to a key: claims, phases, calls, decisions, oldest first",
        [](Run& r) { cli::show_timeline(r.open(), r.which, r.json, r.out); }
    );
    add_key_selector(*timeline, run);

    cli::add_key_acts(keys, run);
    add_settle(keys, run);
}

void add_attention(CLI::App& app, Run& run) {
    auto& attention = *app.add_subcommand(
        "attention", "Requests that an operator must settle: list, show, add, settle, undo"
    );
    attention.require_subcommand(1);
    auto* list = command(attention, run, "list", "Oldest first", [](Run& r) {
        cli::list_attention(r.open(), r.limit, r.json, r.out);
    });
    add_limit(*list, run.limit, "Most requests to show");
    auto* show = command(attention, run, "show", "Show one request in full", [](Run& r) {
        cli::show_attention(r.open(), r.which, r.json, r.out);
    });
    add_key_selector(*show, run);
    cli::add_hand_over(attention, run);
    add_settle(attention, run);
    auto* undo = command(
        attention,
        run,
        "undo",
        "Undo a decision that no server has carried out yet",
        [](Run& r) { cli::undo_settlement_of(r.open(), r.which, r.undo, r.json, r.out); }
    );
    add_key_selector(*undo, run);
    undo->add_option("--note", run.undo.note, "Reason, for the audit");
    undo->add_option("--by", run.undo.by, "Who undoes it, for the audit")->capture_default_str();
}

void add_providers(CLI::App& app, Run& run) {
    auto& providers = *app.add_subcommand(
        "providers",
        "The providers of calls: what waits for each, and which ones do not answer: list"
    );
    providers.require_subcommand(1);
    command(providers, run, "list", "List them with what waits for each one", [](Run& r) {
        cli::list_providers(r.open(), r.json, r.out);
    });
}

void add_servers(CLI::App& app, Run& run) {
    auto& servers = *app.add_subcommand("servers", "The servers of the database: list");
    servers.require_subcommand(1);
    command(servers, run, "list", "List them with what each one holds", [](Run& r) {
        cli::list_servers(r.open(), r.json, r.out);
    });
}

void add_audit(CLI::App& app, Run& run) {
    auto& audit = *app.add_subcommand("audit", "What people did, and why: list");
    audit.require_subcommand(1);
    auto* list = command(audit, run, "list", "Newest first", [](Run& r) {
        cli::list_audit(r.open(), {r.filter.below, r.limit}, r.json, r.out);
    });
    list->add_option("--below", run.filter.below, "Only entries with a smaller id: the next page")
        ->check(decimal());
    add_limit(*list, run.limit, "Most entries to show");
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
        auto asked = cli::reconcile_options(r.since, r.until, r.json);
        asked.day = r.day;
        asked.stored = r.stored;
        asked.csv = r.csv;
        r.open();
        r.status = r.line.reconcile(asked, r.out);
    });
    reconcile->add_option("--since", run.since, "Only records from then on: 2h, or a time (24h)");
    reconcile->add_option("--until", run.until, "Only records before then (now)");
    auto* day = reconcile->add_option(
        "--day", run.day, "Compare this day, YYYY-MM-DD in UTC, and store its differences"
    );
    reconcile->add_flag("--stored", run.stored, "List the stored differences that are open")
        ->excludes(day);
    reconcile->add_flag("--csv", run.csv, "With --stored: all of them, as CSV (RFC 4180)")
        ->needs("--stored");
}

void graph(Run& run) {
    const auto* operation = run.open(Database::As::migration).engine().find(run.operation);
    if (operation == nullptr) throw UsageError{"there is no operation \"" + run.operation + "\""};
    cli::print_graph(*operation, run.json, run.out);
}

struct PendingLine {
    std::string owner;
    std::string name;
};

// What the next start of a server, or `migrate`, would run.
void show_pending(Run& run) {
    auto& database = run.open(Database::As::inspection).impl().database;
    std::vector<PendingLine> lines;
    for (const auto& [owner, scripts] : database.migrations()) {
        const auto state = store::compare_migrations(database.store(), owner, scripts);
        if (!state.refusal.empty()) throw CommandFailed{state.refusal};
        for (const auto& name : state.pending) lines.push_back({owner, name});
    }
    cli::print_rows(run.out, lines, run.json, "There is nothing to migrate.");
}

void migrate(Run& run) {
    if (run.dry_run) return show_pending(run);
    auto& store = run.open(Database::As::migration).engine().store();
    std::vector<MigrationLine> lines;
    store::read_now(store, [&](store::Session& session) {
        detail::run_statement(session, sql::list_migrations, [&](const detail::Row& row) {
            lines.push_back(detail::row_as<MigrationLine>(row, sql::list_migrations.name));
        });
    });
    cli::print_rows(run.out, lines, run.json, "There are no migrations.");
}

// A round with other settings than the servers' could call another provider, or decide what they
// decide otherwise.
void refuse_other_settings(
    const std::vector<core::SettingDifference>& found,
    const std::function<bool(const core::SettingDifference&)>& matters
) {
    std::string all;
    for (const auto& one : found)
        if (matters(one)) all += (all.empty() ? "" : "; ") + ops::text_of(one);
    if (!all.empty())
        throw CommandFailed{
            "PAWL0025: " + all + ". Nothing was done: give this command the servers' options"};
}

void completer(Run& run) {
    auto& impl = run.open().impl();
    if (impl.completer.has_work())
        refuse_other_settings(impl.settings.differences(), [&](const auto& one) {
            return impl.settings.is_of_application(one.name) || ops::ends_leases_early(one) ||
                   ops::settles_early(one);
        });
    const auto report = impl.completer.run_once();
    cli::print_row(run.out, report, run.json);
    if (report.failed + report.stranded + report.left + report.settling_failed > 0) run.status = 1;
}

void reaper(Run& run) {
    auto& service = run.open();
    refuse_other_settings(service.impl().settings.differences(), [](const auto& one) {
        return one.name == "keep_expired";
    });
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
    )
        ->add_flag("--dry-run", run.dry_run, "Show what would run, and change nothing");
    if (!run.line.knows_operations) return;
    add_round(
        app,
        run,
        "completer",
        "Finish dropped requests and carry out decisions, one round",
        &completer
    );
    constexpr auto points = "The stored formats of all operations, to compare a release with";
    command(app, run, "points", points, [](Run& r) {
        cli::print_points(r.open(Database::As::migration), r.released, r.out);
    })->add_option("--released", run.released, "File that `points` of the last release printed");
    command(app, run, "graph", "The flow of an operation as a Mermaid diagram", &graph)
        ->add_option("operation", run.operation, "Its name, such as book_ride")
        ->required();
}

void add_commands(CLI::App& app, Run& run) {
    app.require_subcommand(1);
    add_keys(app, run);
    add_attention(app, run);
    cli::add_job_commands(app, run);
    add_servers(app, run);
    add_audit(app, run);
    add_providers(app, run);
    add_services(app, run);
    add_restored(app, run);
    cli::add_doctor(app, run);
    cli::add_check(app, run);
    cli::add_top(app, run);
    cli::add_shell(app, run);
}

// Whether a command of `keys` or `attention` is neither a list nor an act on many, which checks by
// itself that there is a key.
bool works_on_one_key(const CLI::App& command) {
    const auto name = command.get_name();
    return name != "list" && name != "search" && name != "settle" && name != "unrecorded" &&
           !cli::acts_on_many_keys(name);
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

bool needs_database(std::string_view command) {
    return command != "graph" && command != "points";
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
    std::ostream& raw_out,
    std::ostream& raw_error
) {
    // All that a command prints, also of clients and providers.
    base::VisibleOutput visible_out{*raw_out.rdbuf()};
    base::VisibleOutput visible_error{*raw_error.rdbuf()};
    std::ostream out{&visible_out};
    std::ostream error{&visible_error};
    error.tie(&out);
    Run run{.line = line, .out = out, .error = error};
    run.decision.by = run.undo.by = run.dead.act.by = run.jobs.act.by = run.key_act.act.by =
        run.pause.by = run.restored.by = line.user;
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
            works_on_one_key(*chosen.get_subcommands().front()) && !run.which.id && !run.which.key)
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
