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
    // or the client's "key" instead of the id.
    std::string from{};

    bool selects_many() const {
        return all || choice.operation || choice.point || choice.reason || choice.error ||
               choice.count_max || !from.empty();
    }
};

// Records the same kind of decision for each entry. One that can't be decided this way is left,
// with its reason, and the others go on. It may be stopped and run again. False: some are left.
bool settle_many(
    Service& service,
    const SettleManyOptions& options,
    const Decision& decision,
    bool json,
    std::ostream& out,
    std::ostream& error
);

}  // namespace pawl::cli
