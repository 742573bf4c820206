#pragma once

#include "src/page/acts.hpp"

#include <string>

// The acts that show what the views redact. Each has a row in the audit; without it nothing is
// shown.
namespace pawl::page {

Done reveal_key(const Asked& asked);
Done reveal_entry(const Asked& asked);
Done reveal_job(const Asked& asked);
Done reveal_dead_letter(const Asked& asked);

// Writes that the person sees what the key of the path has.
void audit_reveal(const Asked& asked, std::string detail);

}  // namespace pawl::page
