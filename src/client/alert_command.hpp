#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace pawl::client {

// Runs a command of /bin/sh with `line` on its standard input, and ends it and its children at the
// time limit. Returns why it failed. `line` is never part of the command.
std::optional<std::string> run_command(
    const std::string& command, const std::string& line, std::chrono::milliseconds limit
);

}  // namespace pawl::client
