#include "src/queue/embedded/queue_cursors.hpp"

#include <algorithm>

namespace pawl::queue {

namespace {

constexpr std::size_t cursors_max = 64;

}  // namespace

// A filter that was not used before begins where the query for all jobs is: nothing that it admits
// is before that.
QueueCursors::Cursors& QueueCursors::of(const ClaimFilter& filter) {
    if (const auto at = cursors_.find(filter); at != cursors_.end()) return at->second;
    if (cursors_.size() >= cursors_max)
        std::erase_if(cursors_, [](const auto& one) { return !one.first.without_kinds.empty(); });
    auto wider = filter;
    wider.without_kinds.clear();
    const auto from = cursors_.find(wider);
    Cursors cursors;
    if (from != cursors_.end()) cursors.levels = from->second.levels;
    return cursors_.emplace(filter, cursors).first->second;
}

std::vector<QueueCursors::Poll> QueueCursors::begin_polls(
    const ClaimFilter& filter, TimePoint now
) {
    const std::lock_guard lock{mutex_};
    const auto& levels = of(filter).levels;
    std::vector<Poll> polls;
    for (std::size_t level = 0; level < levels.size(); ++level)
        polls.push_back({level, levels[level].begin_poll(now)});
    return polls;
}

void QueueCursors::poll_done(
    const ClaimFilter& filter, const Poll& poll, std::optional<TimePoint> last
) {
    const std::lock_guard lock{mutex_};
    of(filter).levels[poll.level].poll_done(poll.poll, last);
}

void QueueCursors::polls_failed(const ClaimFilter& filter, const std::vector<Poll>& polls) {
    const std::lock_guard lock{mutex_};
    for (const auto& [level, poll] : polls) of(filter).levels[level].poll_failed(poll);
}

void QueueCursors::job_seen_at(const ClaimFilter& filter, std::size_t level, TimePoint run_at) {
    const std::lock_guard lock{mutex_};
    of(filter).levels[level].job_seen_at(run_at);
}

bool QueueCursors::more_due(const ClaimFilter& filter) {
    const std::lock_guard lock{mutex_};
    const auto& cursors = of(filter);
    return cursors.more_due && std::ranges::all_of(cursors.levels, &PollCursor::known);
}

void QueueCursors::set_more_due(const ClaimFilter& filter, bool more_due) {
    const std::lock_guard lock{mutex_};
    of(filter).more_due = more_due;
}

std::vector<ClaimFilter> QueueCursors::filters() {
    const std::lock_guard lock{mutex_};
    std::vector<ClaimFilter> found;
    for (const auto& [filter, cursors] : cursors_) found.push_back(filter);
    return found;
}

}  // namespace pawl::queue
