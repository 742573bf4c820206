#pragma once

#include <functional>
#include <string_view>

// A named place at which a test can kill, stop or disturb the process: before and after every
// commit, call, push, ack and response. Compiled in where the build says PAWL_FAULTS (tests,
// development), nothing at all elsewhere.
//
//   PAWL_FAULT_AT=name:hit:kind   kind is kill9, exit, throw, stop (SIGSTOP) or sleep-MS; hit
//   counts from 1 PAWL_FAULT_LOG=file           appends each name as it is reached, one a line: the
//   harness enumerates from it
#ifdef PAWL_FAULTS
#define PAWL_FAULT(name) ::pawl::core::fault_point(name)
#else
#define PAWL_FAULT(name) void(0)
#endif

namespace pawl::core {
void fault_point(const char* name);
// For tests: told of each point that is reached, on its thread. Where a transaction or a foreign
// call is open it may throw, and the failure takes its usual way; elsewhere a throw ends the
// process. Nothing: told no more.
void on_fault_point(std::function<void(std::string_view)> told);
}  // namespace pawl::core
