#pragma once

#include <pawl/command_info.hpp>
#include <pawl/database.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/service.hpp>

#include <chrono>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// Options of `reconcile`: the provider's records created from `since` until before `until`.
struct ReconcileOptions {
    TimePoint since{};
    TimePoint until{};
    bool json{};
    // Instead: compares this day, "2026-11-21" in UTC, and stores its differences.
    std::string day{};
    bool stored{};  // Instead: lists the stored differences that are open.
    bool csv{};     // With `stored`: as CSV (RFC 4180), also those that are closed.
};

// Gives an application's own program the operator's commands:
//
//   rides keys list|show|retry|settle       rides queues list|pause|resume     rides migrate
//   rides attention list|show               rides completer --once             rides graph
//   OPERATION rides dlq list|show|merge|purge|export  rides reaper --once      rides restored
//   rides reconcile, where the application has one
//
// The program `pawl` has those that need no operations.
struct CommandLine {
    std::string program;       // "rides", as it is typed.
    std::string options_help;  // The application's own options, for --help.
    // Opens the application on its database; called once, after the arguments were checked.
    // As::migration is passed for `migrate`, which creates all tables, the application's included,
    // and for `graph` and `points`: see needs_database(). As::inspection is passed for
    // `doctor`, `check` and `migrate --dry-run`; call Database::migrate() then, too: it only notes
    // its scripts. The service outlives the command.
    std::function<Service&(Database::As)> open;
    std::string user{};  // Recorded as the one who settled, unless --by is given.
    // false: no `completer` and no `graph`, and the results for `settle` are not checked.
    bool knows_operations{true};
    // Compares the provider's records with the application's; returns the exit code: 0 all match, 1
    // some do not. Empty: no `reconcile`.
    std::function<int(const ReconcileOptions&, std::ostream& out)> reconcile{};
    // The options that the program adds to every command, and its own commands such as `serve`: for
    // `completion` and `man`. command_info() makes them.
    CommandInfo own{};
};

// Whether `word` is a command for command_line().
bool is_command(std::string_view word, bool knows_operations = true);
// false for `graph` and `points`, which show the operations alone: open() may use
// "sqlite::memory:".
bool needs_database(std::string_view command);
// Who runs this program, also behind sudo: "root", "ann".
std::string operator_name();

// Checks a whole number as people type it. Returns "", or what is wrong, as CLI11's check()
// expects: CLI11 itself reads 010 as eight and 0x10 as sixteen.
std::string check_decimal(const std::string& text);
// Hours as people type them: "72h" or "400d"; nullopt: something else.
std::optional<std::chrono::hours> parse_hours(const std::string& text);

// Runs one command ("keys", "list", ...) and returns the exit code: 0 done, 1 failed, 2 wrong
// arguments. Safe beside a running server. Writes results to `out` and errors to `error`.
int command_line(
    const CommandLine& line,
    const std::vector<std::string>& arguments,
    std::ostream& out,
    std::ostream& error
);

}  // namespace pawl
