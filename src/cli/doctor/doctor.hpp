#pragma once

#include "src/cli/run.hpp"

namespace pawl::cli {

// Adds `doctor`, which compares the database and its surroundings with this binary.
void add_doctor(CLI::App& app, Run& run);

}  // namespace pawl::cli
