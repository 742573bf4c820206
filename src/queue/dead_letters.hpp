#pragma once

#include <pawl/detail/session.hpp>

#include "src/store/damaged_row.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// A job that nobody tries any more, until people do something about it.
struct DeadLetter {
    std::string id;  // Its place among the dead letters.
    std::string jid;
    std::string queue;
    std::string kind;
    std::string args;  // As it came: JSON, or not.
    int failures{};
    std::string error;
    std::string error_kind;  // base::error_kind() of it.
    std::string history;     // Its failures and merges, a JSON list, the oldest and the latest.
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    TimePoint died_at{};
    store::Damage damaged{};  // What of its row does not decode, and is left out above.
};

// Which are meant; what is not set does not matter.
struct DeadFilter {
    std::optional<std::string> queue{};
    std::optional<std::string> kind{};
    std::optional<std::string> error_kind{};
    std::optional<std::string> error{};  // Part of it.
    std::optional<TimePoint> died_before{};
    std::optional<TimePoint> died_since{};
    std::optional<int> failures_min{};
};

struct DeadGroup {
    std::string queue;
    std::string kind;
    std::string error_kind;
    std::int64_t count{};
    TimePoint first_died_at{};
    TimePoint last_died_at{};
    std::string sample;  // The id of one of them.
};

// Who does what, and why, for the audit.
struct DeadAct {
    std::string by;
    std::string reason;
};

struct DeadDone {
    int done{};
    int gone{};       // Not there any more: done before, or by another.
    int forgotten{};  // Left, as the receiver of its call may have forgotten its key (F7).
};

// The port of what a queue does with its dead letters; the suite in tests/conformance says what it
// must do. Every member blocks, may be called from any thread, and throws StoreError. To purge and
// to merge are each one step for all ids: after a crash it has happened or it has not, and to do it
// again does nothing twice.
class DeadLetters {
public:
    virtual ~DeadLetters() = default;

    // At most `limit`, in the order of their ids, behind `after` (empty: from the first).
    virtual std::vector<DeadLetter> page(
        const DeadFilter& filter, const std::string& after, int limit
    ) = 0;
    virtual std::vector<DeadGroup> groups(const DeadFilter& filter) = 0;
    virtual std::optional<DeadLetter> find(const std::string& id) = 0;

    virtual DeadDone purge(std::span<const std::string> ids, const DeadAct& act) = 0;
    // Back into its queue, under its job id, due at once and with all its tries before it. One
    // whose call was first made before `remembered_since` is left, unless that is nothing: then its
    // next call is a first one.
    virtual DeadDone merge(
        std::span<const std::string> ids,
        const DeadAct& act,
        std::optional<TimePoint> remembered_since
    ) = 0;
};

}  // namespace pawl::queue
