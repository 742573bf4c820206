#pragma once

#include <pawl/detail/session.hpp>

#include "src/core/queue_limits.hpp"
#include "src/queue/embedded/poll_cursor.hpp"
#include "src/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace pawl::queue {

// A queue's poll cursors: one for each filter and priority. Jobs that a filter does not admit stay
// before its cursor, so each has its own. In a queue with turns they move only if no job is due.
// Thread-safe.
class QueueCursors {
public:
    struct Poll {
        int priority() const { return static_cast<int>(level) + 1; }
        std::size_t level{};  // The priority, from 0.
        PollCursor::Poll poll{};
    };
    // One for each priority, the first one first.
    std::vector<Poll> begin_polls(const ClaimFilter& filter, TimePoint now);
    // See PollCursor.
    void poll_done(const ClaimFilter& filter, const Poll& poll, std::optional<TimePoint> last);
    void polls_failed(const ClaimFilter& filter, const std::vector<Poll>& polls);
    void job_seen_at(const ClaimFilter& filter, std::size_t level, TimePoint run_at);

    // Whether the last claim took as many jobs as it was to, so that more are probably due, and the
    // cursors of all priorities are known: a query from the very beginning belongs into a look.
    bool more_due(const ClaimFilter& filter);
    void set_more_due(const ClaimFilter& filter, bool more_due);

    std::vector<ClaimFilter> filters();

private:
    struct Cursors {
        std::array<PollCursor, detail::priorities> levels;
        bool more_due{false};
    };
    Cursors& of(const ClaimFilter& filter);  // With mutex_ locked.

    std::mutex mutex_;
    std::map<ClaimFilter, Cursors> cursors_;
};

}  // namespace pawl::queue
