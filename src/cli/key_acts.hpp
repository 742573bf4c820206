#pragma once

#include <pawl/service.hpp>

#include "src/cli/output.hpp"
#include "src/ops/key_acts.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::cli {

struct Run;

// Of `keys retry`, `keys hold` and `keys release` on many keys.
struct KeyActOptions {
    ops::KeyChoice choice{};
    std::string since{};  // A time, or an age.
    bool all{false};      // --all: to act on all keys must be explicit.
    bool dry_run{false};
    queue::AuditEntry act{};

    bool of_many() const {
        return all || choice.operation || choice.point || choice.error || !since.empty() ||
               choice.count_max;
    }
};

// The keys that an act would change, as far as they decode; see ops::page_keys_to_act_on.
std::vector<Line<ops::KeyToActOn>> read_keys_to_act_on(
    Service& service, ops::KeyVerb verb, const ops::KeyChoice& choice, std::int64_t above, int limit
);
// Whether a command of `keys` takes one key or many.
bool acts_on_many_keys(const std::string& command);
// Adds the commands to `keys`.
void add_key_acts(CLI::App& keys, Run& run);
// Adds `attention add`.
void add_hand_over(CLI::App& attention, Run& run);

}  // namespace pawl::cli
