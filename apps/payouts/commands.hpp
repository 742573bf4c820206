#pragma once

#include "apps/payouts/settings.hpp"

#include <functional>
#include <iosfwd>
#include <string_view>

namespace payouts {

// Whether `payouts WORD` is one of these commands: files, reports, set-aside.
bool is_payouts_command(std::string_view word);

// Runs one and returns its exit code: 0 done, 1 not possible now, 2 wrong arguments. Prints one
// JSON object a line. `settings` is called by those alone that read a report.
int run_payouts_command(
    int argc,
    const char* const* argv,
    const std::function<Settings()>& settings,
    std::ostream& out,
    std::ostream& error
);

}  // namespace payouts
