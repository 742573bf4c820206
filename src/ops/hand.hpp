#pragma once

#include "src/base/clock.hpp"
#include "src/core/call_rule.hpp"
#include "src/queue/queue.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace pawl::ops {

// How many jobs to take at once: as many as there are threads, and more as long as they are gone
// in no time. So a server does not sit on jobs that another has time for.
class TakeSize {
public:
    TakeSize(int threads, int most) : least_{threads}, most_{std::max(threads, most)} {}
    int next() const { return now_; }
    void took(int jobs);                             // Of next() that were asked for.
    void waited(std::chrono::milliseconds longest);  // In this process, before its handler began.

private:
    int least_;
    int most_;
    int now_{least_};
};

// A job in this process's hands. `asked_at`: before it was taken; its lease may be as old as that.
struct HeldJob {
    queue::TakenJob job;
    core::Moment asked_at;
};

// The jobs that this process holds under leases: those that wait for one of its threads, and those
// whose handlers run. Thread-safe.
class Hand {
public:
    using Steady = std::chrono::steady_clock::time_point;

    explicit Hand(base::Clock& clock) : clock_{clock} {}  // Outlives it.

    void add(std::vector<queue::TakenJob> jobs, core::Moment asked_at);
    struct Next {
        std::vector<HeldJob> jobs;  // Still held: see leave().
        std::chrono::milliseconds longest_wait{0};
        int waiting{};  // Still, for others.
    };
    // Those that waited longest: as many as `together` says may run together, at most so many; else
    // one.
    Next next(const std::function<bool(const queue::TakenJob&)>& together, int most);
    // Those that wait and that nobody will work; not held any more.
    std::vector<queue::TakenJob> give_back();

    // Its handler begins and is to be told to stop after `timeout`.
    std::stop_token begin(const queue::TakenJob& job, std::chrono::milliseconds timeout);
    // Unless it was lost, and taken here again under another claim.
    void leave(const std::string& id, std::int64_t claim);

    std::vector<queue::TakenJob> all();  // To renew their leases.
    // Tells the handlers whose time is over; returns when the next one's is, at most `until`.
    Steady stop_overdue(Steady until);
    // All that run now, and all that begin later.
    void stop_all();
    // Called when a handler begins whose time is over earlier than any other's. Set once, before.
    void on_sooner(std::function<void()> f) { on_sooner_ = std::move(f); }

private:
    struct Held {
        queue::TakenJob job;
        std::optional<std::stop_source> stop;  // From the begin of its handler on.
        Steady stop_at;
    };
    struct Waiting {
        HeldJob held;
        Steady since;
    };

    base::Clock& clock_;
    std::function<void()> on_sooner_;
    std::mutex mutex_;
    std::deque<Waiting> waiting_;
    std::unordered_map<std::string, Held> held_;
    Steady soonest_{Steady::max()};
    bool all_stop_{false};
};

}  // namespace pawl::ops
