#pragma once

#include "src/cli/run.hpp"

namespace pawl::cli {

// Adds `top`: the state of the database, live on a terminal.
void add_top(CLI::App& app, Run& run);

}  // namespace pawl::cli
