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

// Options of `restored`. Times are those of time_option().
struct RestoredOptions {
    std::string as_of;
    std::optional<std::string> lost_until;
    int repeats_for_h{72};
    std::string note;
    std::string by;
};

// Opens an epoch, with its audit entry. Throws UsageError, CommandFailed (output.hpp), StoreError.
void record_restore(Service& service, const RestoredOptions& options, bool json, std::ostream& out);

void add_restored_options(CLI::App& command, RestoredOptions& options);

// The texts are those of time_option(); empty: the last 24 h. Throws UsageError.
ReconcileOptions reconcile_options(const std::string& since, const std::string& until, bool json);

}  // namespace pawl::cli
