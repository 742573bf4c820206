#pragma once

#include "src/core/call_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// One attempt at a key, from its claim to its response, as one table of transitions. It knows no
// store, thread or clock: src/engine/attempt_driver.cpp performs each action and reports what came
// of it as the next event. model/fused.pml has the same names of states and events.
namespace pawl::core::attempt {

enum class State : std::uint8_t {
    idle,                      // Before the first event.
    looking_up,                // The key is queried before its claim.
    looking_up_after_lost_id,  // The claim lost its preallocated id or the key to another session.
    looking_up_after_lock,     // Another session locks the key or the preallocated id.
    looking_up_after_failure,  // The claim of a key that was not queried failed, and may succeed
                               // later.
    looking_up_after_defect,   // The same, but a phase threw.
    looking_up_after_doubt,    // The commit of the claim got no answer.
    looking_up_after_fence,    // Another attempt holds the key.
    claiming_unseen,           // Transaction 1 of a key that was not queried.
    claiming,                  // Transaction 1.
    settling,                  // Transaction 1 of what a person decided.
    recording_failure,
    waiting,         // Another process holds the key (wait(max)).
    calling,         // No transaction is open.
    inquiring,       // The provider is asked about a call in doubt; no transaction is open.
    beginning_anew,  // The call was not made: transaction for one under another key.
    keeping,         // Transaction 2: the keeper, and the phases behind it.
    keeping_alone,   // Transaction 2 without the phases, one of which may have failed.
    unlocking,       // The fenced unlock: the next attempt goes on from the same point.
    handing_over,    // To the attention list.
    storing_result,  // The keeper fails at the result: it is stored for a later attempt.
    noting_result,   // A result of a fenced attempt, for the person who will be asked.
    ended
};
inline constexpr std::size_t state_count = std::size_t(State::ended) + 1;

enum class Event : std::uint8_t {
    new_key,         // A request whose key is probably not stored.
    known_key,       // A request whose key may be stored.
    open_key,        // The completer found an open key.
    decision,        // A person decided.
    not_found,       // By a query, as the four below.
    claimable,       // The key is open or may be executed again.
    answered,        // The row, or what was done, says the final response or refusal.
    busy,            // Another attempt holds the key.
    lookup_failed,   // The query got no answer.
    not_ours,        // After a commit in doubt: nothing proves that it happened.
    rejected,        // There is no room for a call or for a waiting request.
    reached_end,     // Committed, with the response.
    reached_call,    // Committed, at a foreign call.
    reached_doubt,   // Committed, at a call that may have been made, and can be asked about.
    reached_result,  // Committed, at a call whose result an earlier attempt has stored.
    written,         // Committed, or failed where that makes no difference.
    locked,          // Not committed, as all below: another session locks the key.
    lost_id,         // The preallocated id or the key belongs to another session.
    in_doubt,        // No answer to COMMIT.
    transient,       // The store is away or busy: later it may succeed.
    defect,          // A phase threw or broke a constraint.
    fenced,          // Another attempt holds the key.
    fenced_result,   // The same, and this attempt has a result that can't be asked for again.
    time_over,       // This client has waited long enough.
    next_client,     // Another client waits for the same key.
    no_client,
    stopping,
    result,        // Of the call.
    not_made,      // The call was certainly not made, by any attempt.
    try_again,     // The next attempt makes the call again.
    needs_person,  // Only a person can say whether the call was made, or what follows.
    ask,           // The same, but the provider is asked before a person is.
    ask_later,     // The next attempt asks the provider again.
    call_anew,     // The call was proven not made: it is made under another key.
    keep_later,    // The result could not be written and can't be asked for again.
    keep_alone,    // A phase behind the keeper may have failed.
    not_recorded,  // The keeper fails at the result, also alone.
    due            // The wait before another try is over.
};
inline constexpr std::size_t event_count = std::size_t(Event::due) + 1;

enum class Action : std::uint8_t {
    none,
    look_up,               // Query the key by its hash.
    look_up_commit,        // Query whether the claim was committed.
    look_up_holder,        // Query what the other attempt has made of the key.
    claim,                 // If there is room for a call: commit transaction 1.
    claim_with_other_ids,  // Drop the preallocated ids, then commit transaction 1.
    take_over,             // Commit transaction 1 for a stored key.
    settle,                // Commit transaction 1 of the decision.
    record_failed_claim,
    record_failed_settlement,
    park,              // Wait for the end of another process's attempt.
    serve_next,        // Refuse this client; go on for the next one that waits for the key.
    make_call,         // On a thread of the call pool.
    inquire,           // On a thread of the call pool.
    begin_anew,        // Commit the next generation of the call, with its provider.
    commit_keep,       // Commit transaction 2.
    commit_keep_only,  // Commit transaction 2 without the phases behind the keeper.
    unlock,
    unlock_unmarked,  // The same, and clear the mark of the call.
    unlock_asked,     // The same, and record the inquiry.
    hand_over,        // Put the key on the attention list.
    store_result,     // Store the result and give the key back.
    note_result,      // Put the result before the person who will be asked.
    retry_later,      // Refuse the client, once; report `due` in a second.
    respond           // To the client and all who wait for this attempt.
};

// A state among these, an event among those: bits by number.
using States = std::uint32_t;
using Events = std::uint64_t;

struct Row {
    States from;
    Events on;
    State next;
    Action action;
};
std::span<const Row> table() noexcept;

bool allowed(State state, Event event) noexcept;
// The transition: the next state and the action. Asserts that it is allowed.
const Row& step(State state, Event event) noexcept;

// What the rules of a key mean to the machine.
struct RequestFacts {
    bool probably_new{};
    bool pool_full{};
};
Event event_of(const RequestFacts& facts) noexcept;
Event event_of(AfterCall after) noexcept;
Event event_of(AfterFailedKeep after) noexcept;
enum class HasResult { no, yes };
Event event_of_fence(Repeat again, HasResult result) noexcept;

// A row that was found after a commit in doubt, and the claim that was committed.
struct DoubtFacts {
    std::int64_t found_id{};
    int found_attempt{};
    bool same_fingerprint{};
    std::int64_t our_id{};
    int our_attempt{};
};
bool is_committed(const DoubtFacts& facts) noexcept;

}  // namespace pawl::core::attempt
