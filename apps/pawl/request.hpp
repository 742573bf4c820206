#pragma once

#include <iosfwd>
#include <string>
#include <vector>

// `pawl request METHOD URL ...`: one request by pawl::Client, with what happened at each try.
int request_command(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);
