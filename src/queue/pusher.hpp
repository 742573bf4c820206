#pragma once

#include <pawl/detail/session.hpp>

#include "src/core/trace_context.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::queue {

// A job that a phase has staged, to be pushed to a queue outside the database.
struct StagedJob {
    std::int64_t id{};
    std::string jid;  // 24 hex digits; the same for each push.
    std::string queue;
    std::string kind;
    std::string args;  // JSON.
    int failures{};    // These are set only for a job from another queue:
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;  // The request that staged it.
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    std::optional<std::string> last_error;
    std::string history{"[]"};  // JSON list of failures and merges.
    std::optional<core::TraceContext> trace{};
    std::string damaged{};  // Columns that do not decode (PAWL0022).
};

struct RefusedJob {
    std::int64_t id{};
    std::string why;
};

// Only these may be deleted from the staged jobs. A job in neither list is pushed again.
struct PushReport {
    std::vector<std::int64_t> sent;  // The queue has stored them, as safely as it stores anything.
    // The queue will never accept them, for example because of their size.
    std::vector<RefusedJob> refused;
};

// The enqueuer's port to a queue outside the database. push() blocks until the queue has answered
// for each job, is thread-safe, and throws StoreError if the outcome is unknown: some jobs may have
// arrived, and all are pushed again under the same ids. Some queues drop duplicates.
class Pusher {
public:
    virtual ~Pusher() = default;
    virtual PushReport push(std::span<const StagedJob> jobs) = 0;
    // The database has deleted these staged jobs, so they are not pushed again and the queue need
    // not remember their ids.
    virtual void forget(std::span<const std::string> jids) { (void)jids; }
};

}  // namespace pawl::queue
