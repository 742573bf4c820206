#include "src/cli/shell/completion.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace pawl::cli {

namespace {

// `each` gets every command with its place; the place of the program is empty.
using Each = std::function<void(const std::string& place, const CommandInfo& command)>;

void walk(const CommandInfo& command, const std::string& place, const Each& each) {
    each(place, command);
    for (const auto& sub : command.commands) walk(sub, place + '/' + sub.name, each);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const auto& word : words) text.append(text.empty() ? "" : between).append(word);
    return text;
}

// In single quotes of bash and zsh.
std::string quoted(const std::string& text) {
    return '\'' + replaced(text, "'", R"('\'')") + '\'';
}

// The first sentence of a text, for a list beside the words.
std::string brief(const std::string& text) {
    return text.substr(0, text.find_first_of(";.\n"));
}

std::string all_places(const CommandInfo& program, std::string_view between) {
    std::vector<std::string> places;
    walk(program, "", [&](const std::string& place, const CommandInfo&) {
        if (!place.empty()) places.push_back(place);
    });
    return joined(places, between);
}

std::vector<std::string> words_at(const CommandInfo& command) {
    std::vector<std::string> words;
    for (const auto& sub : command.commands) words.push_back(sub.name);
    for (const auto& option : command.options) {
        const auto& more = option.positional ? option.choices : option.names;
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

// "/keys/list:--status", for each name of the option.
std::vector<std::string> patterns_of(const std::string& place, const CommandOption& option) {
    std::vector<std::string> patterns;
    for (const auto& name : option.names) patterns.push_back(place + ':' + name);
    return patterns;
}

// Case branches for the values of options; `choose` writes the choices, `file` offers files.
std::string value_branches(
    const CommandInfo& program,
    const std::function<std::string(const std::vector<std::string>&)>& choose,
    std::string_view file
) {
    std::string branches;
    std::vector<std::string> any;
    walk(program, "", [&](const std::string& place, const CommandInfo& command) {
        for (const auto& option : command.options) {
            if (option.positional || !option.takes_value) continue;
            const auto patterns = patterns_of(place, option);
            if (option.choices.empty())
                any.insert(any.end(), patterns.begin(), patterns.end());
            else
                branches += "        " + joined(patterns, " | ") + ") " + choose(option.choices) +
                            "; return ;;\n";
        }
    });
    if (!any.empty())
        branches += "        " + joined(any, " | ") + ") " + std::string{file} + "; return ;;\n";
    return branches;
}

std::string first_line(const CommandInfo& program) {
    return "# Made by `" + program.name + " completion`.\n";
}

std::string name_of_function(const CommandInfo& program) {
    return '_' + replaced(program.name, "-", "_");
}

}  // namespace

std::string bash_completion(const CommandInfo& program) {
    const auto function = name_of_function(program);
    std::string words;
    walk(program, "", [&](const std::string& place, const CommandInfo& command) {
        words += "        " + quoted(place) + ") words=" + quoted(joined(words_at(command), " ")) +
                 " ;;\n";
    });
    const auto choose = [](const std::vector<std::string>& choices) {
        return "COMPREPLY=($(compgen -W " + quoted(joined(choices, " ")) + " -- \"$now\"))";
    };
    return first_line(program) + function + R"(() {
    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} place='' words='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$place/${COMP_WORDS[i]}" in
        )" +
           all_places(program, " | ") +
           R"() place=$place/${COMP_WORDS[i]} ;;
        esac
    done
    COMPREPLY=()
    case "$place:$before" in
)" + value_branches(program, choose, ":") +
           R"(    esac
    case "$place" in
)" + words +
           R"(    esac
    COMPREPLY=($(compgen -W "$words" -- "$now"))
}
complete -o default -F )" +
           function + ' ' + program.name + '\n';
}

std::string zsh_completion(const CommandInfo& program) {
    const auto entry = [](const std::string& word, const std::string& text) {
        return ' ' + quoted(replaced(word, ":", "\\:") + ':' + brief(text));
    };
    std::string places;
    walk(program, "", [&](const std::string& place, const CommandInfo& command) {
        places += "        (" + quoted(place) + ")\n            commands=(";
        for (const auto& sub : command.commands) places += entry(sub.name, sub.text);
        for (const auto& option : command.options)
            if (option.positional)
                for (const auto& choice : option.choices) places += entry(choice, "");
        places += ")\n            options=(";
        for (const auto& option : command.options)
            if (!option.positional)
                for (const auto& name : option.names) places += entry(name, option.text);
        places += ") ;;\n";
    });
    const auto choose = [](const std::vector<std::string>& choices) {
        return "compadd -- " + joined(choices, " ");
    };
    const auto function = name_of_function(program);
    // Not `path`, which zsh ties to PATH.
    return "#compdef " + program.name + '\n' + first_line(program) + function + R"(() {
    local place='' i
    local -a commands options
    for ((i = 2; i < CURRENT; i++)); do
        case "$place/$words[i]" in
        )" +
           all_places(program, " | ") +
           R"() place="$place/$words[i]" ;;
        esac
    done
    case "$place:$words[CURRENT-1]" in
)" + value_branches(program, choose, "_files") +
           R"(    esac
    case "$place" in
)" + places +
           R"(    esac
    if [[ $PREFIX == -* ]]; then
        _describe -o option options
    elif (( $#commands )); then
        _describe command commands
    else
        _files
    fi
}
)" + function +
           " \"$@\"\n";
}

std::string fish_completion(const CommandInfo& program) {
    const auto text_of = [](const std::string& text) {
        return '\'' + replaced(replaced(brief(text), "\\", "\\\\"), "'", "\\'") + '\'';
    };
    const auto function = "__" + replaced(program.name, "-", "_") + "_place";
    auto script = first_line(program) + "function " + function + R"(
    set -l place
    for word in (commandline -opc)[2..-1]
        switch "$place/$word"
            case )" +
                  all_places(program, " ") + R"(
                set place "$place/$word"
        end
    end
    echo "$place"
end
)";
    walk(program, "", [&](const std::string& place, const CommandInfo& command) {
        const auto head = "complete -c " + program.name + " -n 'test \"$(" + function + ")\" = \"" +
                          place + "\"'";
        if (!command.commands.empty()) script += head + " -f\n";
        for (const auto& sub : command.commands)
            script += head + " -a " + sub.name + " -d " + text_of(sub.text) + '\n';
        for (const auto& option : command.options) {
            if (option.positional) {
                for (const auto& choice : option.choices) script += head + " -a " + choice + '\n';
                continue;
            }
            script += head;
            for (const auto& name : option.names)
                script +=
                    name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.choices.empty())
                script += " -x -a '" + joined(option.choices, " ") + '\'';
            else if (option.takes_value)
                script += " -r";
            script += " -d " + text_of(option.text) + '\n';
        }
    });
    return script;
}

}  // namespace pawl::cli
