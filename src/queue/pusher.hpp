#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// A job that a phase has staged, on its way to a queue outside the database.
struct StagedJob {
    std::int64_t id{};
    std::string jid;  // 24 hex digits; the same at each push.
    std::string queue;
    std::string kind;
    std::string args;  // JSON.
    int failures{};    // Not 0 only for what comes from another queue; so are these:
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;  // The request that staged it.
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    std::optional<std::string> last_error;
    std::string history{"[]"};  // Its failures and merges, a JSON list.
    std::string damaged{};      // What of its row does not decode (PAWL0022).
};

struct RefusedJob {
    std::int64_t id{};
    std::string why;
};

// Exactly these may be deleted from the staged jobs; what is in neither list comes again.
struct PushReport {
    std::vector<std::int64_t> sent;   // The queue has them, as safe as it keeps anything.
    std::vector<RefusedJob> refused;  // It will never take them, as one that is too large.
};

// The port through which the enqueuer reaches a queue outside the database. push() blocks until the
// queue has answered for each job, may be called from any thread, and throws StoreError if it
// cannot know: some may have arrived, and all are pushed again under the same ids. A queue that can
// tells those that it has from new ones.
class Pusher {
public:
    virtual ~Pusher() = default;
    virtual PushReport push(std::span<const StagedJob> jobs) = 0;
    // The database has forgotten these, so that nobody pushes them again: nor need the queue
    // remember that it has had them.
    virtual void forget(std::span<const std::string> jids) { (void)jids; }
};

}  // namespace pawl::queue
