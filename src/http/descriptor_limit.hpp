#pragma once

#include "src/base/warning.hpp"

#include <cstdint>

namespace pawl::http {

// How many connections a process with so many descriptors may serve. It reserves the descriptors
// that calls, the database, queues and logs need, but never more than half of all.
int connections_of(std::uint64_t descriptors, int connections_max, int calls_max);

// Raises this process's soft limit of open files to the hard limit, and returns how many
// connections may be open: `connections_max`, or fewer, reported as PAWL0014.
int connections_within_limit(int connections_max, int calls_max, const base::OnWarning& warning);

}  // namespace pawl::http
