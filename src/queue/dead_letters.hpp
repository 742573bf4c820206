#pragma once

#include <pawl/detail/session.hpp>

#include "src/store/damaged_row.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// The request of a job that is carried out as an operation, whose key is the job's id.
struct JobRequest {
    std::int64_t id{};
    std::string state;     // open, running, held, attention or finished.
    std::string held_why;  // Empty: nobody holds it.
    TimePoint created_at{};
};

// A job that is no longer tried. It stays until a person merges or purges it.
struct DeadLetter {
    std::string id;  // The queue's own id of this dead letter.
    std::string jid;
    std::string queue;
    std::string kind;
    std::string args;  // As it was staged; need not be JSON.
    int failures{};
    std::string error;
    std::string error_kind;  // base::error_kind() of `error`.
    std::string history;  // JSON list of failures and merges: the first entry and the latest ones.
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    TimePoint died_at{};
    std::optional<JobRequest> request{};  // Set by ops::RequestsOfDeadLetters.
    store::Damage damaged{};              // Columns that did not decode; they are left out above.
};

// Selects dead letters. An unset field matches all.
struct DeadLetterFilter {
    std::optional<std::string> queue{};
    std::optional<std::string> kind{};
    std::optional<std::string> error_kind{};
    std::optional<std::string> error{};  // Matches any part of the text.
    std::optional<TimePoint> died_before{};
    std::optional<TimePoint> died_since{};
    std::optional<int> failures_min{};
};

struct DeadLetterGroup {
    std::string queue;
    std::string kind;
    std::string error_kind;
    std::int64_t count{};
    TimePoint first_died_at{};
    TimePoint last_died_at{};
    std::string sample;  // The id of one dead letter of the group.
};

// Who acts and why, for the audit.
struct AuditEntry {
    std::string by;
    std::string reason;
};

struct PurgeResult {
    int done{};
    int gone{};  // No longer there: merged or purged before.
    // Left alone: the receiver of its call may have forgotten the idempotency key (F7).
    int forgotten{};
    // Set by ops::RequestsOfDeadLetters: requests that are held from now on, and jobs that were
    // left because an attempt works on their request, which is held, too.
    int held{};
    int at_work{};
};

// The port for a queue's dead letters; tests/conformance specifies it. Every member blocks, is
// thread-safe and throws StoreError. purge() and merge() each act on all ids in one step: after a
// crash they have happened or not, and repeating them does nothing twice.
class DeadLetters {
public:
    virtual ~DeadLetters() = default;

    // At most `limit`, by ascending id, after the id `after` (empty: from the first).
    virtual std::vector<DeadLetter> page(
        const DeadLetterFilter& filter, const std::string& after, int limit
    ) = 0;
    virtual std::vector<DeadLetterGroup> groups(const DeadLetterFilter& filter) = 0;
    virtual std::optional<DeadLetter> find(const std::string& id) = 0;

    virtual PurgeResult purge(std::span<const std::string> ids, const AuditEntry& act) = 0;
    // Puts each back into its queue under its job id, due at once, with its failure count reset. A
    // job whose call was first made before `remembered_since` is left alone. nullopt: all are
    // merged, and their next call counts as a first one.
    virtual PurgeResult merge(
        std::span<const std::string> ids,
        const AuditEntry& act,
        std::optional<TimePoint> remembered_since
    ) = 0;
};

}  // namespace pawl::queue
