#pragma once

#include "src/cli/run.hpp"

namespace pawl::cli {

// Declares `jobs`, `dlq`, `queues` and `schedules`.
void add_job_commands(CLI::App& app, Run& run);

}  // namespace pawl::cli
