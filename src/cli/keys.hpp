#pragma once

#include <pawl/service.hpp>

#include "src/cli/key_selector.hpp"
#include "src/cli/settle.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

// The commands on keys and on the attention list. Each throws CommandFailed (output.hpp) and
// StoreError.
namespace pawl::cli {

void show_key(Service& service, const KeySelector& which, bool json, std::ostream& out);
void retry_key(
    Service& service, const KeySelector& which, const std::string& by, bool json, std::ostream& out
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
