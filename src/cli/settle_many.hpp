#pragma once

#include "src/cli/attention.hpp"

#include <ostream>
#include <string>

namespace pawl::cli {

// Of `attention settle` on many entries.
struct SettleManyOptions {
    bool all{false};
    AttentionChoice choice{};
    // happened: a file with a JSON object a line: {"id": 17, "result": "Charge", "value": {...}},
    // or the client's "key" instead of the id, or both. "as" may repeat the command's --as.
    std::string from{};

    bool has_filter() const {
        return all || choice.operation || choice.point || choice.reason || choice.error ||
               choice.count_max;
    }
    bool selects_many() const { return has_filter() || !from.empty(); }
};

// Records the same kind of decision for each entry. One that can't be decided this way is left,
// with its reason, and the others go on. It may be stopped and run again. False: some are left.
// Throws UsageError or CommandFailed (output.hpp) for a wrong line of the file, before the first
// decision is recorded.
bool settle_many(
    Service& service,
    const SettleManyOptions& options,
    const Decision& decision,
    bool json,
    std::ostream& out,
    std::ostream& error
);

}  // namespace pawl::cli
