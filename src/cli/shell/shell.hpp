#pragma once

#include "src/cli/run.hpp"

namespace pawl::cli {

// Adds `completion` and `man`, which describe `app` and the program's own commands.
void add_shell(CLI::App& app, Run& run);

}  // namespace pawl::cli
