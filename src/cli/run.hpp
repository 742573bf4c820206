#pragma once

#include <pawl/command_line.hpp>

#include "src/cli/dead_letters.hpp"
#include "src/cli/jobs.hpp"
#include "src/cli/key_acts.hpp"
#include "src/cli/key_list.hpp"
#include "src/cli/keys.hpp"
#include "src/cli/queues.hpp"
#include "src/cli/restored.hpp"
#include "src/cli/schedules.hpp"
#include "src/cli/servers.hpp"
#include "src/cli/settle_many.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <ostream>
#include <string>

// What the files that declare the commands share.
namespace pawl::cli {

// One run: the commands fill in their options; the chosen one sets `act`.
struct Run {
    const CommandLine& line;
    std::ostream& out;
    std::ostream& error;
    bool json{false};
    KeySelector which{};
    KeyFilter filter{};
    KeyActOptions key_act{};
    Decision decision{};
    SettleManyOptions settle_many{};
    UndoRequest undo{};
    DeadOptions dead{};
    std::string dead_id{};
    JobOptions jobs{};
    std::string job_id{};
    PauseRequest pause{};
    RestoredOptions restored{};
    std::string since{};
    std::string until{};
    std::string day{};
    bool stored{false};
    bool csv{false};
    std::string file{};
    std::string operation{};
    std::string released{};  // The file of `points --released`.
    bool once{false};
    bool dry_run{false};
    bool verbose{false};
    int limit{50};
    int max{1'000};
    const CLI::App* app{nullptr};  // Of all commands.
    std::string shell{};
    int status{0};  // The exit code.
    std::function<void(Run&)> act{};

    Service& open(Database::As as = Database::As::tool) const { return line.open(as); }
};

const CLI::Validator& decimal();
// Options that choose one key: its id, or the client's key.
void add_key_selector(CLI::App& to, Run& run);
void add_limit(CLI::App& to, int& limit, const std::string& text);
// Adds a command, with --json, that calls `act`.
CLI::App* command(
    CLI::App& in, Run& run, const std::string& name, const std::string& text, void (*act)(Run&)
);

}  // namespace pawl::cli
