#pragma once

#include <string>
#include <string_view>

// A planted fault: with PAWL_FAULTS, the named safeguard is left out while a test has chosen it. If
// no test fails then, the suite has a hole. Tools and tests list faults by these names. Otherwise
// it is false.
#ifdef PAWL_FAULTS
#define PAWL_MUTANT(name) ::pawl::core::is_mutant(name)
#else
#define PAWL_MUTANT(name) false
#endif

namespace pawl::core {

bool is_mutant(std::string_view name);
const std::string& chosen_mutant();  // Empty: none.
// Chooses one fault; empty: none. The start value is the environment's PAWL_MUTANT. Do not call
// while other threads run.
void choose_mutant(std::string name);

}  // namespace pawl::core
