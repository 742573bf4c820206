#pragma once

#include <functional>
#include <string_view>

// A named place at which a test can kill, stop or disturb the process: before and after every
// commit, call, push, ack and response. Only with PAWL_FAULTS (tests, development); otherwise it
// expands to nothing.
//
//   PAWL_FAULT_AT=name:hit:kind   kind is kill9 or stop (SIGSTOP); hit counts from 1
//   PAWL_FAULT_LOG=file           appends each name when it is reached, one a line; the harness
//                                 lists the points from it
#ifdef PAWL_FAULTS
#define PAWL_FAULT(name) ::pawl::core::fault_point(name)
#else
#define PAWL_FAULT(name) void(0)
#endif

namespace pawl::core {
void fault_point(const char* name);
// For tests: `on_reached` is called for each point that is reached, on its thread. It may throw
// while a transaction or a foreign call is open, which then fails; elsewhere a throw ends the
// process. An empty function removes it.
void on_fault_point(std::function<void(std::string_view)> on_reached);
}  // namespace pawl::core
