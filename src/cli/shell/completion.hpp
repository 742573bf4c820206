#pragma once

#include <pawl/command_info.hpp>

#include <string>

// Completion scripts. Each finds the place of the words typed so far in the tree of commands
// ("/keys/list"), and offers what may follow there. It asks no program and no database.
namespace pawl::cli {

std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);
std::string fish_completion(const CommandInfo& program);

}  // namespace pawl::cli
