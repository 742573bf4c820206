#include "src/queue/embedded/poll_cursor.hpp"

#include <algorithm>

namespace pawl::queue {

namespace {

// Two connections read the database's clock a few ms apart (docs/adr/0006); that does not mean that
// the clock was set back.
constexpr auto clocks_apart = 1s;
// Longer than a claim's transaction may last.
constexpr auto out_of_sight_max = 10s;
constexpr int share_of_sweeps = 20;
// The deadline of a read or write, after which a sweep is undone.
constexpr auto sweep_deadline = 5s;

}  // namespace

PollCursor::Poll PollCursor::begin_poll(TimePoint now) const {
    Poll poll{.from = position_, .at = now, .lowerings = lowerings_};
    if (!known_ || now < seen_ - clocks_apart) {
        poll.from = from_the_beginning;
        poll.whole = true;
        return poll;
    }
    for (const auto& level : levels_)
        if (&level == levels_.data() || now >= level.due)
            poll.from = std::min(poll.from, level.older);
    return poll;
}

void PollCursor::poll_done(const Poll& poll, std::optional<TimePoint> last) {
    if (poll.lowerings != lowerings_) return;  // Jobs found meanwhile are queried first.
    const auto position = last.value_or(poll.at);
    if (poll.whole) {
        // Another worker may hold the jobs after the first one, and give them back.
        const auto first = poll.from == from_the_beginning ? position : poll.from;
        return begin_anew(position, std::min(first, position), poll.at);
    }
    position_ = position;
    seen_ = std::max(seen_, poll.at);
    for (auto& level : levels_)
        if (poll.at >= level.due)
            level = {level.apart, level.newer, position, poll.at + level.apart};
}

void PollCursor::poll_failed(const Poll& poll) {
    const auto from = poll.from == from_the_beginning ? poll.at - out_of_sight_max : poll.from;
    if (poll.whole) begin_anew(from, from, poll.at);
    job_seen_at(from);
}

void PollCursor::job_seen_at(TimePoint run_at) {
    if (!known_ || run_at > position_) return;
    position_ = run_at;
    ++lowerings_;
}

void PollCursor::begin_anew(TimePoint position, TimePoint first, TimePoint now) {
    known_ = true;
    position_ = position;
    seen_ = now;
    for (auto& level : levels_) {
        level.older = level.newer = first - 2 * level.apart;
        level.due = now + level.apart;
    }
}

Sweeps::Sweep Sweeps::begin(TimePoint now) const {
    if (!last_ || now >= whole_due_ || now < *last_ - clocks_apart)
        return {.leases_since = from_the_beginning, .at = now, .whole = true};
    return {.leases_since = *last_ - out_of_sight_max, .at = now};
}

void Sweeps::ended(const Sweep& sweep, TimePoint now) {
    last_ = sweep.at;
    if (!sweep.whole) return;
    // A write and a read take at most this long. More: the process was suspended or its clock set.
    const TimePoint::duration most{2 * sweep_deadline};
    const auto worked = std::clamp(now - sweep.at, TimePoint::duration{0}, most);
    whole_due_ = now + share_of_sweeps * worked;
}

void Sweeps::took_too_long(const Sweep& sweep) {
    if (!sweep.whole) return;
    if (!last_) last_ = sweep.at;
    whole_due_ = sweep.at + share_of_sweeps * sweep_deadline;
}

}  // namespace pawl::queue
