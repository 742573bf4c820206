#pragma once

#include "src/base/clock.hpp"
#include "src/core/call_rule.hpp"
#include "src/engine/trace.hpp"
#include "src/queue/queue.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace pawl::ops {

// How many jobs to take at once: as many as there are threads, and more as long as jobs finish
// fast. So a server does not hold jobs that another could work.
class ClaimSize {
public:
    ClaimSize(int threads, int most) : least_{threads}, most_{std::max(threads, most)} {}
    int next() const { return now_; }
    // The same for a queue with limits, where jobs that wait here count: jobs that may be slow get
    // a thread at once. They may be, until some have ended fast.
    int next_limited(int free_threads) const {
        return fast_ && now_ > least_ ? now_ : std::clamp(free_threads, 1, least_);
    }
    void took(int jobs, int asked);
    // How long jobs waited here before their handlers began.
    void waited(std::chrono::milliseconds longest);
    // How long their handlers ran.
    void ran(std::chrono::milliseconds longest);

private:
    int least_;
    int most_;
    int now_{least_};
    bool fast_{false};  // The last handlers that ended were.
};

// A job that this process holds. `asked_at` is from before it was taken: its lease may be as old.
struct HeldJob {
    queue::ClaimedJob job;
    core::Moment asked_at;
    engine::TracePtr trace{};  // Of this try, from its start.
};

// The jobs that this process holds under leases: those that wait for a thread, and those whose
// handlers run. Thread-safe.
class InFlightJobs {
public:
    using Steady = std::chrono::steady_clock::time_point;

    explicit InFlightJobs(base::Clock& clock) : clock_{clock} {}  // Outlives it.

    void add(std::vector<queue::ClaimedJob> jobs, core::Moment asked_at);
    struct Next {
        std::vector<HeldJob> jobs;  // Held until leave().
        std::chrono::milliseconds longest_wait{0};
        bool more{};  // Others wait that may begin on another thread.
    };
    struct Most {
        int together{1};  // Jobs at once, if `together` says that they may run together.
        int of_a_kind{std::numeric_limits<int>::max()};  // Threads that may work jobs of one kind.
    };
    // The jobs that waited longest, none of a kind that has its threads already. The thread works
    // for the first one's kind until turn_over().
    Next next(const std::function<bool(const queue::ClaimedJob&)>& together, Most most);
    void turn_over(const std::string& kind);
    // Whether next() would return one.
    bool any_may_begin(int of_a_kind);
    // The kinds that have their threads, sorted.
    std::vector<std::string> full_kinds(int of_a_kind);
    // Returns the jobs that have waited for so long; they are not held any more.
    std::vector<queue::ClaimedJob> release(std::chrono::milliseconds waited_for);

    // The job's handler begins; its stop is requested after `timeout`.
    std::stop_token begin(const queue::ClaimedJob& job, std::chrono::milliseconds timeout);
    // No effect if the job was lost and is held here again under another claim.
    void leave(const std::string& id, std::int64_t claim);

    // The job's lease was renewed; `asked_at` is from before that.
    void renewed(const queue::ClaimedJob& job, core::Moment asked_at);
    // Whether it lasts, by this process's clocks: not after a pause of the process or the machine.
    bool lease_lasts(const queue::ClaimedJob& job, std::chrono::milliseconds lease);

    // Those claimed so long ago.
    std::vector<queue::ClaimedJob> held_for(std::chrono::milliseconds age);
    // Those whose handlers have run for `age` and were not stopped.
    std::vector<queue::ClaimedJob> running_for(std::chrono::milliseconds age);
    // Stops the job's handler. False if it does not run here, or under another claim.
    bool stop(const queue::ClaimedJob& job);
    // The handler's run, after begin(). Once it has ended, nothing stops it.
    class Running {
    public:
        Running(InFlightJobs& jobs, const queue::ClaimedJob& job) : jobs_{jobs}, job_{job} {}
        ~Running() { jobs_.end(job_); }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

    private:
        InFlightJobs& jobs_;
        const queue::ClaimedJob& job_;
    };
    // Stops the handlers whose time is over; returns the next one's time, at most `until`.
    Steady stop_overdue(Steady until);
    // Stops all handlers: those that run now and those that begin later.
    void stop_all();
    // `f` is called when a handler begins that must stop before all others. Set once, before jobs.
    void on_sooner(std::function<void()> f) { on_sooner_ = std::move(f); }

private:
    struct Held {
        queue::ClaimedJob job{};
        Steady since{};                          // When it was claimed.
        core::Moment leased{};                   // When its lease was written, or before.
        std::optional<std::stop_source> stop{};  // While its handler runs.
        Steady began{};
        Steady stop_at{};
    };
    struct Waiting {
        HeldJob held;
        Steady since;
    };

    base::Clock& clock_;
    std::function<void()> on_sooner_;
    std::mutex mutex_;
    bool is_full(const std::string& kind, int of_a_kind) const;
    Held* find(const queue::ClaimedJob& job);  // nullptr also for another claim of the job.
    void end(const queue::ClaimedJob& job);

    std::deque<Waiting> waiting_;
    std::map<std::string, int> threads_;  // Of each kind, that work its jobs.
    std::unordered_map<std::string, Held> held_;
    Steady soonest_{Steady::max()};
    bool all_stop_{false};
};

}  // namespace pawl::ops
