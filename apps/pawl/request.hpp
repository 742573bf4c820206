#pragma once

#include <pawl/command_info.hpp>

#include <iosfwd>
#include <string>
#include <vector>

// `pawl request METHOD URL ...`: sends one request by pawl::Client and reports each try.
pawl::CommandInfo request_info();  // Its options.
int request_command(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);
