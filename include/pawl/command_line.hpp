#pragma once

#include <pawl/database.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/service.hpp>

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// What `reconcile` was asked: the provider's records made from `since` until before `until`.
struct ReconcileOptions {
    TimePoint since{};
    TimePoint until{};
    bool json{};
};

// What an application gives so that its own program has the operator's commands:
//
//   rides keys list|show|retry|settle       rides queues list|pause|resume     rides migrate
//   rides attention list|show               rides completer --once             rides graph
//   OPERATION rides dlq list|show|merge|purge|export  rides reaper --once      rides restored
//   rides reconcile, where the application has one
//
// The program `pawl` has those that need no operations.
struct CommandLine {
    std::string program;       // "rides", as people type it.
    std::string options_help;  // The application's own options, for --help.
    // The application on its database: asked for once, when the arguments are right. As::migration
    // for `migrate`, which wants the tables made, the application's too, and for `graph`, for which
    // "sqlite::memory:" will do.
    // What it gives outlives the command.
    std::function<Service&(Database::As)> open;
    std::string user{};  // Who is recorded as having settled, unless --by says so.
    // Without: no `completer` and no `graph`, and the results that `settle` records are not
    // checked.
    bool knows_operations{true};
    // Compares what a provider has with what the application has; returns the exit code: 0 all
    // match, 1 some do not. Without: no `reconcile`.
    std::function<int(const ReconcileOptions&, std::ostream& out)> reconcile{};
};

// Whether `word` is one of an application's commands: what command_line() is called for.
bool is_command(std::string_view word, bool knows_operations = true);
// "root", "ann": who runs this program, behind sudo too.
std::string operator_name();

// A whole number as people type it: digits, the first of them no 0. Empty, or what is wrong; as
// CLI11's check() wants it, whose own reading has 010 for eight and 0x10 for sixteen.
std::string check_decimal(const std::string& text);

// Runs one command ("keys", "list", ...) and returns the exit code: 0 done, 1 it could not be done,
// 2 wrong arguments. Safe beside a running server. Results go to `out`, trouble to `error`.
int command_line(
    const CommandLine& line,
    const std::vector<std::string>& arguments,
    std::ostream& out,
    std::ostream& error
);

}  // namespace pawl
