#include "src/cli/key_acts.hpp"

#include "src/cli/keys.hpp"
#include "src/cli/numbers.hpp"
#include "src/cli/progress.hpp"
#include "src/cli/run.hpp"
#include "src/engine/engine.hpp"

#include <algorithm>
#include <chrono>

namespace pawl::cli {

namespace {

using ops::KeyVerb;

constexpr int keys_shown = 50;  // Of a dry run.

// "held": what the keys are afterwards.
const char* done_word(KeyVerb verb) {
    if (verb == KeyVerb::hold) return "held";
    if (verb == KeyVerb::hand_over) return "put on the attention list";
    return verb == KeyVerb::retry ? "retried" : "released";
}

void check_options(const Run& run, KeyVerb verb) {
    const auto& options = run.key_act;
    const std::string name{ops::name_of(verb)};
    const bool one = run.which.id || run.which.key;
    if (one && options.of_many()) throw UsageError{"give a key or filters, not both"};
    if (!one && !options.of_many())
        throw UsageError{
            "no keys chosen: give an id, --key, a filter such as --operation or --error, or --all; "
            "--dry-run shows the chosen keys"};
    const bool needs_reason = !one || verb == KeyVerb::hold || verb == KeyVerb::hand_over;
    if (needs_reason && options.act.reason.empty() && !options.dry_run)
        throw UsageError{
            "--reason is missing: it is recorded in the audit of every key that you " + name};
}

ops::KeyChoice choice_of(const Run& run, Service& service) {
    auto choice = run.key_act.choice;
    if (!run.key_act.since.empty())
        choice.since = time_option("--since", run.key_act.since, service.engine().clock().now());
    return choice;
}

void show_many(Run& run, Service& service, KeyVerb verb) {
    auto& store = service.engine().store();
    const auto choice = choice_of(run, service);
    const auto total = std::ssize(ops::ids_to_act_on(store, verb, choice));
    const auto limit = static_cast<int>(std::min<std::int64_t>(keys_shown, total));
    const auto shown = read_keys_to_act_on(service, verb, choice, 0, limit);
    print_rows(run.out, shown, run.json, "No key matches.");
    if (!run.json) print_choice(run.out, total, std::ssize(shown), "key");
}

void act_on_many(Run& run, Service& service, KeyVerb verb) {
    auto& store = service.engine().store();
    const auto ids = ops::ids_to_act_on(store, verb, choice_of(run, service));
    Progress progress{run.error, std::ssize(ids), done_word(verb)};
    const auto report =
        ops::act_on_keys(store, verb, ids, run.key_act.act, [&](const ops::KeyActReport& so_far) {
            if (so_far.chosen > ops::key_batch) progress.show(so_far.done + so_far.left);
        });
    if (run.json) return print_row(run.out, report, true);
    run.out << report.done << ' ' << done_word(verb);
    if (report.left > 0) run.out << ", " << report.left << " left: they changed meanwhile";
    run.out << ".\n";
}

void show_one(Run& run, Service& service, KeyVerb verb) {
    const auto id = id_of(service, run.which);
    auto found = read_keys_to_act_on(service, verb, {}, id - 1, 1);
    std::erase_if(found, [&](const auto& line) { return line.row.id != id; });
    print_rows(run.out, found, run.json, "This would change nothing.");
}

template <KeyVerb verb>
void act(Run& run) {
    check_options(run, verb);
    auto& service = run.open();
    const bool many = run.key_act.of_many();
    if (run.key_act.dry_run)
        return many ? show_many(run, service, verb) : show_one(run, service, verb);
    if (many) return act_on_many(run, service, verb);
    act_on_key(service, verb, run.which, run.key_act.act, run.json, run.out);
}

void add_options(CLI::App& to, Run& run) {
    add_key_selector(to, run);
    auto& options = run.key_act;
    to.add_flag(
        "--all", options.all, "All keys that this would change, and that the filters leave"
    );
    to.add_option("--operation", options.choice.operation, "Only keys of this operation");
    to.add_option("--point", options.choice.point, "Only keys at this recovery point");
    to.add_option("--error", options.choice.error, "Only keys whose error contains this text");
    to.add_option("--since", options.since, "Only keys created since this time, or age such as 2h");
    to.add_option(
          "--limit", options.choice.count_max, "At most so many keys, the smallest ids first"
    )
        ->check(decimal())
        ->check(CLI::PositiveNumber);
    to.add_flag("--dry-run", options.dry_run, "Show the chosen keys, change nothing");
    to.add_option("--reason", options.act.reason, "Reason, for the audit");
    to.add_option("--by", options.act.by, "Who does it, for the audit")->capture_default_str();
}

}  // namespace

std::vector<Line<ops::KeyToActOn>> read_keys_to_act_on(
    Service& service, KeyVerb verb, const ops::KeyChoice& choice, std::int64_t above, int limit
) {
    std::vector<Line<ops::KeyToActOn>> lines;
    const auto add = [&](const detail::Row& row) {
        lines.push_back(line_of_row<ops::KeyToActOn>(row, "page_keys_to_act_on"));
    };
    ops::page_keys_to_act_on(service.engine().store(), verb, choice, above, limit, add);
    return lines;
}

bool acts_on_many_keys(const std::string& command) {
    return command == "retry" || command == "hold" || command == "release" || command == "add";
}

void add_key_acts(CLI::App& keys, Run& run) {
    constexpr auto retry =
        "Let the completer try keys at its next round: one, or all that wait for a later try or "
        "are on the attention list though a try can go on";
    add_options(*command(keys, run, "retry", retry, &act<KeyVerb::retry>), run);
    constexpr auto hold =
        "Let no attempt begin on keys, neither the completer's nor a client's, nor by a decision";
    add_options(*command(keys, run, "hold", hold, &act<KeyVerb::hold>), run);
    add_options(
        *command(keys, run, "release", "End the hold of keys", &act<KeyVerb::release>), run
    );
}

void add_hand_over(CLI::App& attention, Run& run) {
    constexpr auto text =
        "Put open keys on the list, at which no attempt works: a person then settles them";
    add_options(*command(attention, run, "add", text, &act<KeyVerb::hand_over>), run);
}

}  // namespace pawl::cli
