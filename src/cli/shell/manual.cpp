#include "src/cli/shell/manual.hpp"

#include <algorithm>
#include <cctype>

namespace pawl::cli {

namespace {

// Text of a line: roff reads a backslash, and a dot or a quote at the beginning, as commands. A
// plain "-" may become a hyphen, which a shell does not know.
std::string escaped(const std::string& text) {
    std::string line;
    for (const char c : text) {
        if (line.empty() && (c == '.' || c == '\'')) line += "\\&";
        if (c == '\\')
            line += "\\e";
        else if (c == '-')
            line += "\\-";
        else
            line += c == '\n' ? ' ' : c;
    }
    return line;
}

std::string in_capitals(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string value_of(const CommandOption& option) {
    if (option.choices.empty()) return "VALUE";
    std::string choices;
    for (const auto& choice : option.choices) choices += (choices.empty() ? "" : "|") + choice;
    return choices;
}

std::string option_entry(const CommandOption& option) {
    std::string names;
    for (const auto& name : option.names)
        names += (names.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
    if (option.takes_value && !option.positional)
        names += " \\fI" + escaped(value_of(option)) + "\\fR";
    return ".TP\n" + names + '\n' + escaped(option.text + (option.required ? " (needed)" : "")) +
           '\n';
}

std::string synopsis(const std::string& place, const CommandInfo& command) {
    std::string line = "\\fB" + escaped(place) + "\\fR";
    for (const auto& option : command.options)
        if (option.positional) line += " [\\fI" + escaped(option.names.front()) + "\\fR]";
    return line;
}

// A command that is one: not only a group of others.
void add_command(const CommandInfo& command, const std::string& place, std::string& page) {
    for (const auto& sub : command.commands) add_command(sub, place + ' ' + sub.name, page);
    if (!command.commands.empty()) return;
    page += ".SS \"" + escaped(place) + "\"\n" + synopsis(place, command) + "\n.PP\n" +
            escaped(command.text) + '\n';
    for (const auto& option : command.options) {
        const bool help = std::ranges::count(option.names, "--help") > 0;
        if (!option.shared && !help) page += option_entry(option);
    }
}

}  // namespace

std::string manual_page(const CommandInfo& program) {
    std::string page = ".TH " + in_capitals(program.name) + " 1\n.SH NAME\n" +
                       escaped(program.name) + " \\- " + escaped(program.text) +
                       "\n.SH SYNOPSIS\n\\fB" + escaped(program.name) +
                       "\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH OPTIONS\n"
                       "Every command of an operator has these, and \\fB\\-\\-help\\fR.\n";
    for (const auto& option : program.options)
        if (std::ranges::count(option.names, "--help") == 0) page += option_entry(option);
    page += ".SH COMMANDS\n";
    for (const auto& command : program.commands)
        add_command(command, program.name + ' ' + command.name, page);
    page +=
        ".SH EXIT STATUS\n"
        "0: done. 1: not done, or not all of it; standard error has the reason. 2: wrong "
        "arguments.\n"
        "\\fBdoctor\\fR has 1 for a warning and 3 for an error that it found.\n";
    return page;
}

}  // namespace pawl::cli
