#pragma once

#include "src/store/damaged_row.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The search for keys, for the command line and for pages of operators.
namespace pawl::ops {

struct KeyReference {
    std::string name;
    std::string id;
};

// A place in the order of a result: newest first, and by id among those of one time.
struct KeyPlace {
    TimePoint at{};
    std::int64_t id{};
};

// All that is given must match. nullopt: any.
struct KeySearch {
    std::optional<std::string> text{};  // A client's key, or the id of any reference or request.
    std::optional<std::string> key{};   // A client's Idempotency-Key.
    std::optional<std::string> account{};
    std::optional<std::string> tenant{};
    std::optional<KeyReference> reference{};  // The id of a request has the name "request".
    std::optional<std::string> operation{};
    std::optional<std::string> state{};  // open, attention, finished or expired.
    std::optional<std::string> point{};  // Recovery point.
    std::optional<std::string> error{};  // A part of the last error, in any case of letters.
    std::optional<TimePoint> since{};    // Of the claim, or of the expiry of an expired key.
    std::optional<TimePoint> until{};
    std::optional<KeyPlace> after{};  // Only older ones: the next page.
    int limit{50};
};

// Absent for an expired key: what the reaper has removed.
struct FoundKey {
    std::int64_t id{};
    std::optional<std::string> tenant;
    std::optional<std::string> account;
    std::optional<std::string> key;
    std::optional<std::string> operation;
    std::string status;
    std::optional<std::string> recovery_point;
    std::optional<int> attempt;
    std::optional<std::string> lease_until;
    std::optional<int> response_status;
    std::optional<std::string> created_at;
    std::optional<std::string> last_run_at;
    std::optional<std::string> error;
    std::optional<std::string> held_at;
    std::optional<std::string> expired_at;
    std::optional<std::string> location;
};
struct FoundRow {
    FoundKey row;
    store::Damage damage;
};
struct FoundKeys {
    std::vector<FoundRow> rows;    // Newest first; expired ones behind the others.
    std::optional<KeyPlace> next;  // There may be more: the `after` of the next page.
};

// An expired key has only its id, its status, its location, its references and a hash of its
// tenant, account and key. So it is found by state `expired`, by a reference, by a text, or by a
// key and perhaps its account, and by no other criterion but the time. Of the keys with one text or
// reference the 1,000 newest are searched. Throws StoreError.
FoundKeys search_keys(store::Session& session, const KeySearch& wanted);

// Where a key stands in results; nullopt: no key has the id.
std::optional<KeyPlace> place_of_key(store::Session& session, std::int64_t id);

}  // namespace pawl::ops
