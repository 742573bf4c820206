#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl {

// An option, or a positional argument, of a command.
struct CommandOption {
    std::vector<std::string> names;  // "-h", "--help"; of a positional argument its name, "id".
    std::string text;
    bool positional{false};
    bool takes_value{true};
    bool required{false};
    std::vector<std::string> choices{};  // Its only values; empty: any.
    bool shared{false};                  // Every command has it.
};

// A program's commands as plain data, from which completions and the manual page are made.
struct CommandInfo {
    std::string name{};
    std::string text{};
    std::vector<CommandOption> options{};
    std::vector<CommandInfo> commands{};
};

namespace detail {

// The type of an option, as CLI11 shows it, has its choices: "TEXT:{open,finished}".
inline std::vector<std::string> choices_in(std::string_view type) {
    std::vector<std::string> choices;
    const auto from = type.find('{');
    const auto to = type.find('}', from == type.npos ? 0 : from);
    if (from == type.npos || to == type.npos) return choices;
    auto rest = type.substr(from + 1, to - from - 1);
    while (!rest.empty()) {
        const auto end = std::min(rest.find(','), rest.size());
        choices.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return choices;
}

inline bool has_option(const CommandInfo& info, const std::vector<std::string>& names) {
    return std::any_of(info.options.begin(), info.options.end(), [&](const CommandOption& option) {
        return option.names == names;
    });
}

}  // namespace detail

// The commands and options of an App of CLI11, which this header does not include.
template <class App>
CommandInfo command_info(const App& app) {
    CommandInfo info{.name = app.get_name(), .text = app.get_description()};
    for (const auto* option : app.get_options({})) {
        CommandOption made{.names = {}, .text = option->get_description()};
        for (const auto& name : option->get_snames()) made.names.push_back("-" + name);
        for (const auto& name : option->get_lnames()) made.names.push_back("--" + name);
        made.positional = made.names.empty();
        if (made.positional) made.names.push_back(option->get_name(true));
        made.takes_value = option->get_items_expected_max() > 0;
        made.required = option->get_required();
        made.choices = detail::choices_in(option->get_type_name());
        info.options.push_back(std::move(made));
    }
    const auto all = [](const App*) { return true; };
    for (const auto* command : app.get_subcommands(all)) {
        auto sub = command_info(*command);
        if (!sub.name.empty()) {
            info.commands.push_back(std::move(sub));
            continue;
        }
        // A group of options of this command.
        for (auto& option : sub.options)
            if (!detail::has_option(info, option.names)) info.options.push_back(std::move(option));
    }
    return info;
}

}  // namespace pawl
