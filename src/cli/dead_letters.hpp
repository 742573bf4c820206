#pragma once

#include <pawl/service.hpp>

#include "src/ops/dead_letters.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

// The commands on dead letters: jobs that are not tried any more. Each throws CommandFailed
// (output.hpp) and StoreError.
namespace pawl::cli {

struct DeadOptions {
    std::vector<std::string> ids;
    queue::DeadLetterFilter filter;            // Without its times:
    std::optional<std::int64_t> older_than_s;  // Dead for longer than this.
    std::optional<std::int64_t> younger_than_s;
    std::optional<int> sample;
    std::string after;
    int limit{50};
    bool all{false};  // --all: a purge or merge of all dead letters must be explicit.
    bool by_error{false};
    bool dry_run{false};
    bool in_database{false};  // With an external queue: use the database's dead letters.
    bool even_if_forgotten{false};
    queue::AuditEntry act;
};

void list_dead(Service& service, const DeadOptions& options, bool json, std::ostream& out);
void show_dead(
    Service& service,
    const DeadOptions& options,
    const std::string& id,
    bool json,
    std::ostream& out
);
// One JSON object per line; arguments that are not JSON as a string.
void export_dead(Service& service, const DeadOptions& options, std::ostream& out);
// Throws UsageError if `options` do not say which dead letters, or not why; called before the
// database is opened.
void check_dead_act(const DeadOptions& options, const std::string& verb);
// Progress of long work goes to `progress`. False if some of the chosen jobs were left.
bool purge_dead(
    Service& service,
    const DeadOptions& options,
    bool json,
    std::ostream& out,
    std::ostream& progress
);
bool merge_dead(
    Service& service,
    const DeadOptions& options,
    bool json,
    std::ostream& out,
    std::ostream& progress
);

}  // namespace pawl::cli
