#pragma once

#include <pawl/command_info.hpp>

#include <string>
#include <vector>

namespace rides {

// Runs an operator's command (pawl::is_command) on the database of Rocket Rides, and returns the
// exit code. `own`: the program's other commands.
int operate(const std::vector<std::string>& arguments, const pawl::CommandInfo& own);

}  // namespace rides
