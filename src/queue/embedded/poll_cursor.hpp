#pragma once

#include <pawl/detail/session.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

namespace pawl::queue {

using namespace std::chrono_literals;

inline constexpr TimePoint from_the_beginning{};  // Before every run_at.

// Where a process begins its queries for due jobs of a queue. Jobs are claimed by run_at. Before
// the last claimed one lie the index entries of deleted jobs, under an old snapshot all of them,
// and neither vacuum nor hint bits remove them (docs/adr/0015). So a query begins at the position
// that earlier queries reached, minus a margin for jobs that became visible late: their transaction
// took long, or another worker's claim was rolled back. For that, each query goes back to the
// position of 50 ms ago, and further back more rarely. A job that was invisible for up to 5 s waits
// for at most ten times as long as it was invisible. A job older than all levels is found by a
// Sweep.
//
// All times are of the database's clock, as run_at is. Not thread-safe.
class PollCursor {
public:
    struct Poll {
        // Earlier run_at are not queried; after the query, the run_at of the first ready job.
        TimePoint from;
        TimePoint at;
        bool whole{};
        std::uint64_t lowerings{};  // The value of lowerings_ when the query began.
    };

    bool known() const { return known_; }  // A query has ended.
    Poll begin_poll(TimePoint now) const;
    // `last`: the latest run_at, if as many jobs were claimed as asked for. nullopt: every visible
    // job that was due at poll.at is claimed.
    void poll_done(const Poll& poll, std::optional<TimePoint> last);
    // The query claimed nothing. A query from the very beginning may exceed its deadline: other
    // workers do not repeat it, but go on with new jobs.
    void poll_failed(const Poll& poll);
    // A job with this run_at was seen.
    void job_seen_at(TimePoint run_at);

private:
    // A query of this level runs at least `apart` after the previous one. It begins where queries
    // began two of them ago, before any job that was invisible for up to `apart`.
    struct Level {
        std::chrono::milliseconds apart;
        TimePoint older{};
        TimePoint newer{};
        TimePoint due{};
    };

    void begin_anew(TimePoint position, TimePoint first, TimePoint now);

    bool known_{false};
    TimePoint position_{};
    TimePoint seen_{};  // The clock at the latest query.
    std::uint64_t lowerings_{0};
    std::array<Level, 4> levels_{{{50ms}, {500ms}, {5s}, {50s}}};
};

// How far back the rounds go that rescue jobs and find what no PollCursor finds: from the very
// beginning, but for at most a twentieth of the time, which matters where that takes seconds. The
// rounds between read the leases that ended since the last round. Not thread-safe.
class Sweeps {
public:
    struct Sweep {
        TimePoint leases_since;
        TimePoint at;
        bool whole{};
    };

    Sweep begin(TimePoint now) const;
    void ended(const Sweep& sweep, TimePoint now);
    void took_too_long(const Sweep& sweep);  // The sweep exceeded its deadline and was rolled back.

private:
    std::optional<TimePoint> last_;
    TimePoint whole_due_{};
};

}  // namespace pawl::queue
