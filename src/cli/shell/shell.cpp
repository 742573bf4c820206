#include "src/cli/shell/shell.hpp"

#include "src/cli/shell/completion.hpp"
#include "src/cli/shell/manual.hpp"

#include <utility>

namespace pawl::cli {

namespace {

void add_shared(CommandInfo& command, const std::vector<CommandOption>& options) {
    for (auto option : options) {
        option.shared = true;
        command.options.push_back(std::move(option));
    }
    for (auto& sub : command.commands) add_shared(sub, options);
}

CommandInfo program_of(const Run& run) {
    auto program = command_info(*run.app);
    program.name = run.line.program;
    add_shared(program, run.line.own.options);
    const auto& own = run.line.own.commands;
    program.commands.insert(program.commands.end(), own.begin(), own.end());
    return program;
}

void complete(Run& run) {
    const auto program = program_of(run);
    run.out
        << (run.shell == "bash"  ? bash_completion(program)
            : run.shell == "zsh" ? zsh_completion(program)
                                 : fish_completion(program));
}

}  // namespace

void add_shell(CLI::App& app, Run& run) {
    run.app = &app;
    auto* completion = app.add_subcommand("completion", "Print the completion script of a shell");
    completion->add_option("shell", run.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->callback([&run] { run.act = &complete; });
    auto* man = app.add_subcommand("man", "Print the manual page, for man -l");
    man->callback([&run] { run.act = [](Run& r) { r.out << manual_page(program_of(r)); }; });
}

}  // namespace pawl::cli
