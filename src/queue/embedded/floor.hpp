#pragma once

#include <pawl/detail/session.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

namespace pawl::queue {

using namespace std::chrono_literals;

inline constexpr TimePoint from_the_beginning{};  // Before every run_at.

// Where a process's looks for due jobs of a queue begin. Jobs are taken by run_at, and behind the
// last one lie the index entries of those that are gone: under an old snapshot all of them, which
// neither vacuum nor a hint takes out of the way (docs/adr/0015). So a look begins at the position
// that the looks before have reached, less what may have become visible late: by its transaction
// that lasted, or by another's claim that was undone. For that each look goes back to where it was
// 50 ms ago, and the more rarely the further. Whoever was out of sight for up to 5 s waits for at
// most ten times as long as it was; older than any level is found by a Sweep.
//
// All times are of the database's clock, as run_at is. Not thread-safe.
class Floor {
public:
    struct Look {
        TimePoint from;  // No earlier run_at is looked at; then, where the first ready job was.
        TimePoint at;
        bool whole{};
        std::uint64_t lowerings{};  // Before it.
    };

    Look look(TimePoint now) const;
    // `last`: the latest run_at, if as many jobs were taken as were asked for. Else all that was to
    // be seen and due at look.at is taken.
    void looked(const Look& look, std::optional<TimePoint> last);
    // It took nothing. One from the very beginning may be too long for its deadline: it is not
    // repeated by each worker, who go on with what is new.
    void failed(const Look& look);
    // Somebody has seen a job there.
    void lower_to(TimePoint run_at);

private:
    // A look at least so long after the last of its kind begins where looks began two of them ago:
    // before whatever was out of sight for as long as that.
    struct Level {
        std::chrono::milliseconds apart;
        TimePoint older{};
        TimePoint newer{};
        TimePoint due{};
    };

    void begin_anew(TimePoint position, TimePoint first, TimePoint now);

    bool known_{false};
    TimePoint position_{};
    TimePoint seen_{};  // The clock, at the latest look.
    std::uint64_t lowerings_{0};
    std::array<Level, 4> levels_{{{50ms}, {500ms}, {5s}, {50s}}};
};

// How far back the rounds look that rescue jobs and find what no Floor would: from the very
// beginning, but at most a twentieth of the time, which counts where that takes seconds. Between
// them leases are looked at that ended since the last round. Not thread-safe.
class Sweeps {
public:
    struct Sweep {
        TimePoint leases_since;
        TimePoint at;
        bool whole{};
    };

    Sweep begin(TimePoint now) const;
    void ended(const Sweep& sweep, TimePoint now);
    void took_too_long(const Sweep& sweep);  // And was undone.

private:
    std::optional<TimePoint> last_;
    TimePoint whole_due_{};
};

}  // namespace pawl::queue
