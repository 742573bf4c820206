#pragma once

#include <pawl/service.hpp>

#include "src/cli/key_selector.hpp"
#include "src/ops/key_acts.hpp"

#include <cstdint>
#include <ostream>
#include <string>

// The commands on one key. Each throws CommandFailed (output.hpp) and StoreError.
namespace pawl::cli {

// "open at ride_created".
std::string state_of_key(Service& service, std::int64_t id);
void show_key(Service& service, const KeySelector& which, bool json, std::ostream& out);
void act_on_key(
    Service& service,
    ops::KeyVerb verb,
    const KeySelector& which,
    const queue::AuditEntry& act,
    bool json,
    std::ostream& out
);
}  // namespace pawl::cli
