#pragma once

#include <string>
#include <string_view>

namespace pawl {

// Asked by the copies of product files that plant_faults makes: true while the named fault is
// chosen. In namespace pawl, so that the copies find it by its short name.
bool planted(std::string_view name);
// Called by a copy in place of core::assertion_failed().
void note_assertion(const char* condition);

namespace simulation {

// The chosen fault: of planted_faults.txt or of sql_mutants.cpp. Empty: none, unless the
// environment's PAWL_PLANTED names one. Choose only while no history runs.
const std::string& chosen_fault();
void choose_fault(std::string name);
// The first assertion that failed in a copy since then; null: none.
const char* noted_assertion();

}  // namespace simulation
}  // namespace pawl
