#pragma once

#include <pawl/service.hpp>

#include "src/cli/key_selector.hpp"
#include "src/cli/settle.hpp"
#include "src/ops/key_acts.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

// The commands on keys and on the attention list. Each throws CommandFailed (output.hpp) and
// StoreError.
namespace pawl::cli {

void show_key(Service& service, const KeySelector& which, bool json, std::ostream& out);
// `retry` of a key on the attention list: the keeper runs again with its kept result.
void act_on_key(
    Service& service,
    ops::KeyVerb verb,
    const KeySelector& which,
    const queue::AuditEntry& act,
    bool json,
    std::ostream& out
);
void settle_key(
    Service& service, const KeySelector& which, Decision decision, bool json, std::ostream& out
);
// Undoes a decision that no server has carried out yet.
void undo_settlement_of(
    Service& service, const KeySelector& which, const UndoRequest& act, bool json, std::ostream& out
);
void list_attention(Service& service, int limit, bool json, std::ostream& out);
void show_attention(Service& service, const KeySelector& which, bool json, std::ostream& out);

}  // namespace pawl::cli
