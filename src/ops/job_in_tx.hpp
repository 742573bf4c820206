#pragma once

#include <pawl/detail/job_form.hpp>

#include "src/core/call_rule.hpp"
#include "src/engine/engine.hpp"
#include "src/queue/queue.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <variant>

namespace pawl::ops {

// What became of a job whose handler has a transaction: its writes and the mark that it is done
// commit together, one effect, however often it is tried.
struct TxDone {
    bool staged{};  // Other jobs, by its handler.
};
struct TxLost {};        // The job is another's, or soon may be: nothing was written.
struct TxDoneBefore {};  // Another transaction did it: nothing was written.
struct TxUndone {
    detail::Worked worked;  // What its handler said instead of done: nothing was written.
};
struct TxFailed {
    std::string error;
};
struct TxTrouble {};  // Of the database, which is no failure of the job.
using TxOutcome = std::variant<TxDone, TxLost, TxDoneBefore, TxUndone, TxFailed, TxTrouble>;

struct JobRun {
    const queue::TakenJob& job;
    // Its transaction begins in the first half of the lease, or the job is lost: a queue outside
    // does not fence it, and behind the lease another may bury what it then commits. Nor is it put
    // back: if it was the clock that was set, nobody knows when it would be due.
    core::Moment held_since;
    std::chrono::milliseconds lease;
    std::chrono::milliseconds deadline;  // Of the transaction.
};

// Hands the job's transaction to the store and returns; `on_end` is told from the store's thread,
// once, and quickly hands on. What is referred to lives until then.
void run_in_transaction(
    engine::Engine& engine,
    queue::Queue& queue,
    const detail::JobForm& form,
    const JobRun& run,
    std::function<void(TxOutcome)> on_end
);

}  // namespace pawl::ops
