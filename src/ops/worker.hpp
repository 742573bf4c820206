#pragma once

#include <pawl/detail/job_form.hpp>

#include "src/core/call_rule.hpp"
#include "src/engine/engine.hpp"
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
    int threads{4};
    std::chrono::milliseconds lease{60s};
    std::chrono::milliseconds timeout{
        50s};  // A handler's Call is told to stop after this; under the lease.
    std::chrono::milliseconds poll{500ms};  // Where no hint comes.
    std::vector<std::chrono::milliseconds> retry_layers{10s, 1min, 10min, 1h, 6h};
    std::chrono::hours provider_memory{
        20};  // Past this since a job's first call its key may be forgotten (F7).
    std::optional<std::string> problem() const;
};

struct WorkReport {
    int done{};
    int retried{};
    int buried{};
    int lost{};  // Another worker had the job meanwhile: nothing was written.
};

// Runs the handlers of jobs. A job of unknown kind, or whose arguments do not decode, goes to the
// dead jobs.
class Worker {
public:
    // All outlive the worker.
    Worker(engine::Engine& engine, queue::Queue& queue, WorkerOptions options);

    void add(detail::JobForm form);
    void add(
        std::string_view kind, const detail::OperationForm& operation
    );  // The job's id is its key.

    // Takes at most `limit` due jobs and works them, one after the other. Throws StoreError.
    WorkReport run_once(int limit);
    // One thread's loop; `threads` of them may run. wake() ends a wait early.
    void run(const std::stop_token& stop);
    void wake();
    // For the end of a service: run() begins no more rounds; true once none is under way; handlers
    // are told to stop (Call::stop).
    void take_no_more();
    bool wait_idle(std::chrono::milliseconds limit);
    void stop_calls();
    // Jobs of dead workers; renews the leases of what is in hand. Every third of a lease.
    void run_upkeep(const std::stop_token& stop);

private:
    using Handler = std::variant<detail::JobForm, const detail::OperationForm*>;

    // `asked_at`: before the job was taken; its lease may be as old as that.
    void work(const queue::TakenJob& job, core::Moment asked_at, WorkReport& report);
    void work_in_transaction(
        const detail::JobForm& form, const queue::TakenJob& job, WorkReport& report
    );
    void work_in_call(
        const detail::JobForm& form,
        const queue::TakenJob& job,
        core::Moment asked_at,
        WorkReport& report
    );
    void work_as_operation(
        const detail::OperationForm& form, const queue::TakenJob& job, WorkReport& report
    );
    void settle(const queue::TakenJob& job, const detail::Worked& worked, WorkReport& report);
    void failed(const queue::TakenJob& job, const std::string& error, WorkReport& report);
    void bury(const queue::TakenJob& job, const std::string& why, WorkReport& report);
    void renew_in_hand();
    bool begin_round();
    void end_round();

    struct InHand {
        queue::TakenJob job;
        std::stop_source stop;
        std::chrono::steady_clock::time_point since;
    };
    class Hold;  // Keeps a job in in_hand_ while its handler runs.

    engine::Engine& engine_;
    queue::Queue& queue_;
    WorkerOptions options_;
    std::unordered_map<std::string, Handler> handlers_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::uint64_t wakes_{0};
    std::map<std::int64_t, InHand> in_hand_;
    std::condition_variable idle_;
    int rounds_{0};  // Under way in run().
    bool refusing_{false};
    bool calls_stopped_{false};
};

}  // namespace pawl::ops
