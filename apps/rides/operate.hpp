#pragma once

#include <string>
#include <vector>

namespace rides {

// Runs an operator's command (pawl::is_command) on the database of Rocket Rides.
int operate(const std::vector<std::string>& arguments);  // The exit code.

}  // namespace rides
