#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Operators' work on keys that are not settled, one or many. Each function throws StoreError.
namespace pawl::ops {

enum class KeyVerb {
    // The completer tries the key in its next round; its count of failures begins anew. A key
    // leaves
    // the attention list for that, if a try can go on there: see reopen_key.
    retry,
    hold,      // No attempt begins until the release; one that runs may end. No decision is carried
               // out.
    release,   // Ends a hold.
    hand_over  // Puts an open key at which no attempt works on the attention list.
};
std::string_view name_of(KeyVerb verb);

// A key that an act would change.
struct KeyToActOn {
    std::int64_t id{};
    std::string created_at;
    std::string account;
    std::string key;
    std::string operation;
    std::string recovery_point;
    std::string status;
    int attempt{};
    int completer_runs{};
    std::optional<std::string> completer_next_at;
    std::optional<std::string> held_at;
    std::optional<std::string> held_by;
    std::optional<std::string> error;
};

// Of the keys that the act would change: those that match all of these, smallest ids first. A
// retry would change the keys that wait for the completer's next try, and those of the attention
// list that may leave it.
struct KeyChoice {
    std::optional<std::string> operation{};
    std::optional<std::string> point{};
    std::optional<std::string> error{};       // A part of the last error.
    std::optional<TimePoint> since{};         // Created since then.
    std::optional<std::int64_t> count_max{};  // No more keys than this.
};

// Calls back with the chosen keys above this id, at most `limit`: the columns of KeyToActOn, which
// may be damaged (PAWL0022).
using OnKeyToActOn = std::function<void(const detail::Row& row)>;
void page_keys_to_act_on(
    store::Store& store,
    KeyVerb verb,
    const KeyChoice& choice,
    std::int64_t above,
    int limit,
    const OnKeyToActOn& f
);
std::vector<std::int64_t> ids_to_act_on(store::Store& store, KeyVerb verb, const KeyChoice& choice);

// False: it changed nothing, as the key is settled, or is held, or is not. Otherwise the audit and
// the key's time line have the act.
bool act_on_key(
    detail::Session& session, KeyVerb verb, std::int64_t id, const queue::AuditEntry& act
);

struct KeyActReport {
    std::int64_t chosen{};
    std::int64_t done{};
    std::int64_t left{};  // They had changed since they were chosen.
};
// Called after each transaction.
using OnKeyBatch = std::function<void(const KeyActReport& so_far)>;
inline constexpr int key_batch = 100;

// In transactions of key_batch keys each. It may be stopped or killed at any moment, and run again:
// the choice then has the keys that are left.
KeyActReport act_on_keys(
    store::Store& store,
    KeyVerb verb,
    const std::vector<std::int64_t>& ids,
    const queue::AuditEntry& act,
    const OnKeyBatch& on_batch
);

}  // namespace pawl::ops
