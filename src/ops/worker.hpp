#pragma once

#include <pawl/detail/erased_job.hpp>

#include "src/core/call_rule.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/in_flight_jobs.hpp"
#include "src/ops/job_in_tx.hpp"
#include "src/ops/job_requests.hpp"
#include "src/ops/lone_runs.hpp"
#include "src/ops/pauses.hpp"
#include "src/queue/queue.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace pawl::ops {

using namespace std::chrono_literals;

struct WorkerOptions {
    std::string queue{"default"};  // The queue's name.
    queue::ClaimFilter jobs{};     // Which of its jobs; the kinds are the worker's matter.
    int threads{16};
    int claim_max{256};  // Jobs per claim if they finish fast; otherwise one for each thread.
    // Claims jobs for free threads only: those that are claimed count in the queue's limits.
    bool limited{false};
    int together_max{32};  // Jobs in the store at once per thread, each in a transaction.
    std::chrono::milliseconds lease{60s};
    // A handler's Call is asked to stop after this, unless its kind has a time-out of its own; less
    // than the lease.
    std::chrono::milliseconds timeout{50s};
    std::chrono::milliseconds poll{500ms};          // Used when no hint comes.
    std::chrono::milliseconds outage_wait_max{5s};  // While the queue is away.
    std::chrono::milliseconds phase_deadline{5s};   // The same for a handler in a transaction.
    std::vector<std::chrono::milliseconds> retry_layers{default_retry_layers()};
    // Between two questions whether the request of a job that is an operation is settled.
    RequestWait request_wait{};
    // After this time since a job's first call, the receiver may have forgotten its key (F7).
    std::chrono::hours provider_key_lifetime{20};
    std::optional<std::string> problem() const;
};

struct WorkReport {
    int worked() const { return done + done_before + retried + dead_lettered; }
    int done{};
    int done_before{};  // By an earlier transaction, unknown to the queue: not done again.
    int retried{};
    int dead_lettered{};
    int lost{};  // Another worker had the job meanwhile: nothing was written.
};

// Runs the handlers of jobs. A job of unknown kind, or whose arguments do not decode, is retried as
// one that failed: a worker of another release may know it. What is no job (no kind, or no JSON) is
// a dead letter.
class Worker {
public:
    // All outlive the worker. `lone_runs`: of all workers of the process; nullptr: it is the only
    // one.
    Worker(
        engine::Engine& engine,
        queue::Queue& queue,
        Pauses& pauses,
        WorkerOptions options,
        LoneRuns* lone_runs = nullptr
    );

    void add(detail::ErasedJob form);
    // The job's id is its key.
    void add(const detail::KindOfJob& settings, const detail::ErasedOperation& operation);

    const WorkerOptions& options() const { return options_; }
    // Whether a stored job can be worked here; tries of the others fail.
    enum class Known { yes, no_handler, not_decoded };
    Known knows(const std::string& kind, std::string_view args) const;
    // Each kind of job with the JSON Schema of its arguments, or with the operation that works it.
    std::map<std::string, std::variant<std::string, const detail::ErasedOperation*>> kinds() const;

    // Takes at most `limit` due jobs, none of a paused queue, and works them one after the other.
    // Throws StoreError.
    WorkReport run_once(int limit);
    // The loop of one thread; `threads` of them may run. wake() ends a wait early.
    void run(const std::stop_token& stop);
    void wake();
    // For the end of a service: run() begins no more rounds; true once none is in progress;
    // handlers are asked to stop (Call::stop).
    void stop_claiming();
    bool wait_idle(std::chrono::milliseconds limit);
    std::size_t jobs_in_flight() { return in_flight_.held_for(0ms).size(); }
    void stop_calls();
    // Renews the leases of jobs in flight and rescues the jobs of dead workers. Throws StoreError.
    void rescue_once();
    // Stops the handlers that have run for a second and whose jobs were cancelled or lost.
    void stop_lost();
    // Stops the handlers whose time is over; for when the rescuer waits for the database.
    void stop_overdue() { in_flight_.stop_overdue(InFlightJobs::Steady::max()); }
    // Gives back the jobs that have waited here for so long: other servers may be free.
    void release(std::chrono::milliseconds waited_for);
    // Runs rescue_once() every third of a lease, stop_lost() and release() every second; asks
    // handlers whose time is over to stop.
    void run_rescuer(const std::stop_token& stop);

private:
    struct Handler {
        detail::KindOfJob settings;
        std::variant<detail::ErasedJob, const detail::ErasedOperation*> form;
    };

    void add(Handler handler);
    // Works jobs that are held; on return they are not held any more.
    void work_all(std::vector<HeldJob>& jobs, LoneRuns::Turn& turn, WorkReport& report);
    bool runs_beside_others(const queue::ClaimedJob& job) const;
    bool admit(queue::ClaimedJob& job, LoneRuns::Turn& turn, WorkReport& report);
    // Works one job that needs no transaction.
    void work(HeldJob& held, WorkReport& report);
    // `before`: the report before the job's result was counted.
    void end_trace(
        const HeldJob& held,
        const WorkReport& before,
        const WorkReport& report,
        engine::SteadyTime began,
        engine::SteadyTime ended
    );
    void work_in_transactions(std::vector<HeldJob>& jobs, WorkReport& report);
    void settle_in_transaction(
        const queue::ClaimedJob& job, const TxOutcome& outcome, WorkReport& report
    );
    bool took_out_done(const queue::ClaimedJob& job, WorkReport& report);
    bool still_held(HeldJob& held);
    void work_in_call(const detail::ErasedJob& form, HeldJob& held, WorkReport& report);
    void work_as_operation(
        const detail::ErasedOperation& form, const HeldJob& held, WorkReport& report
    );
    bool wait_for_request(const queue::ClaimedJob& job, WorkReport& report);
    void record_result(
        const queue::ClaimedJob& job, const detail::Worked& worked, WorkReport& report
    );
    void failed(const queue::ClaimedJob& job, const std::string& error, WorkReport& report);
    void dead_letter(const queue::ClaimedJob& job, const std::string& why, WorkReport& report);
    void unknown(const queue::ClaimedJob& job, const std::string& why, WorkReport& report);
    const detail::ErasedJob* form_in_transaction(const queue::ClaimedJob& job) const;
    // If `f` throws, nothing was marked: the lease ends, and the job comes again.
    template <class F>
    void or_lost(const queue::ClaimedJob& job, WorkReport& report, F f);
    int work_some();
    int kind_max() const;
    int claim(int limit);
    bool claim_for_all();
    std::chrono::milliseconds poll_wait();
    bool begin_round();
    void end_round(bool worked);
    void poll_now();  // With mutex_ locked.

    engine::Engine& engine_;
    queue::Queue& queue_;
    Pauses& pauses_;
    WorkerOptions options_;
    LoneRuns own_lone_runs_;
    LoneRuns& lone_runs_;
    std::unordered_map<std::string, Handler> handlers_;
    std::size_t own_kinds_{0};  // Those whose queue this is.
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::uint64_t wakes_{0};
    bool taking_{false};  // One thread asks the queue for all threads...
    std::chrono::steady_clock::time_point next_poll_{};  // ...and not before this.
    std::uint64_t hints_{0};                             // Reasons to ask before that.
    ClaimSize claim_size_;
    InFlightJobs in_flight_;
    bool sooner_{false};  // A handler's time is over earlier than the upkeep expects.
    std::condition_variable_any upkeep_;
    std::condition_variable idle_;
    int rounds_{0};  // In progress in run().
    bool refusing_{false};
};

}  // namespace pawl::ops
