#pragma once

#include <pawl/command_line.hpp>
#include <pawl/service.hpp>

#include <optional>
#include <ostream>
#include <string>

namespace CLI {
class App;
}

namespace pawl::cli {

// Options of `restored`. Times are UTC: 2026-11-21T04:30:00Z, with or without milliseconds.
struct RestoredOptions {
    std::string as_of;
    std::optional<std::string> lost_until;
    int repeats_for_h{72};
    std::string note;
    std::string by;
};

// Throws CommandFailed that names the option.
TimePoint time_of_option(const std::string& name, const std::string& text);
// Opens an epoch, with its audit entry. Throws CommandFailed (output.hpp) and StoreError.
void record_restore(Service& service, const RestoredOptions& options, bool json, std::ostream& out);

void add_restored_options(CLI::App& command, RestoredOptions& options);

// The texts are times in UTC; empty: the last 24 h. Throws CommandFailed that names the option.
ReconcileOptions reconcile_options(const std::string& since, const std::string& until, bool json);

}  // namespace pawl::cli
