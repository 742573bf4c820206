#pragma once

#include <pawl/service.hpp>

#include "src/cli/key_selector.hpp"
#include "src/cli/settle.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

// The commands on the attention list. Each throws CommandFailed (output.hpp) and StoreError.
namespace pawl::cli {

// The undecided entries that match all of these, oldest first.
struct AttentionChoice {
    std::optional<std::string> operation{};
    std::optional<std::string> point{};
    std::optional<std::string> reason{};  // As listed: stuck.
    std::optional<std::string> error{};   // A part of the detail.
    std::optional<std::int64_t> count_max{};
};
std::vector<std::int64_t> undecided_ids(Service& service, const AttentionChoice& choice);

struct Settled {
    SettlePlan plan;
    std::optional<TimePoint> decided_at;  // nullopt: a dry run.
};
// Records the decision on one entry, or, for a dry run, only plans it.
Settled settle(Service& service, std::int64_t id, const Decision& decision);
void settle_key(
    Service& service,
    const KeySelector& which,
    const Decision& decision,
    bool json,
    std::ostream& out
);
// Undoes a decision that no server has carried out yet.
void undo_settlement_of(
    Service& service, const KeySelector& which, const UndoRequest& act, bool json, std::ostream& out
);
void list_attention(Service& service, int limit, bool json, std::ostream& out);
void show_attention(Service& service, const KeySelector& which, bool json, std::ostream& out);

}  // namespace pawl::cli
