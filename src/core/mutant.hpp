#pragma once

#include <string>
#include <string_view>

// A planted fault: where the build says PAWL_FAULTS, the named repair is left out while a test has
// chosen it. A suite of which no part fails then has a hole; tools and tests list them by these
// names. Nothing at all elsewhere.
#ifdef PAWL_FAULTS
#define PAWL_MUTANT(name) ::pawl::core::is_mutant(name)
#else
#define PAWL_MUTANT(name) false
#endif

namespace pawl::core {

bool is_mutant(std::string_view name);
const std::string& chosen_mutant();  // Empty: none.
// One at a time; empty: none, as at the start, unless PAWL_MUTANT says one. Not while anything
// runs.
void choose_mutant(std::string name);

}  // namespace pawl::core
