#pragma once

#include <pawl/detail/erased_job.hpp>

#include "src/core/call_rule.hpp"
#include "src/engine/engine.hpp"
#include "src/queue/queue.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <variant>

namespace pawl::ops {

// Outcomes of a job whose handler has a transaction. The handler's writes and the mark that the job
// is done commit together: one effect, however often the job is tried.
struct TxDone {
    bool staged{};  // Its handler staged other jobs.
};
struct TxLost {};        // Another worker has the job, or soon may: nothing was written.
struct TxDoneBefore {};  // Another transaction has done the job: nothing was written.
struct TxRolledBack {
    detail::Worked worked;  // The handler's result, which is not "done": nothing was written.
};
struct TxFailed {
    std::string error;
};
struct TxStoreFailed {};  // Trouble of the database, which does not count as a failure of the job.
using TxOutcome = std::variant<TxDone, TxLost, TxDoneBefore, TxRolledBack, TxFailed, TxStoreFailed>;

struct JobRun {
    const queue::ClaimedJob& job;
    // The transaction must begin in the first half of the lease, or the job is lost: an external
    // queue does not fence it, and after the lease another worker may dead-letter a job that this
    // one then commits. It is not rescheduled either: if the clock was set, its due time is
    // unknown.
    core::Moment held_since;
    std::chrono::milliseconds lease;
    std::chrono::milliseconds deadline;  // For the transaction.
    const core::TraceContext* trace{};   // The job's span; nullptr: it is in no trace.
};

// The job's transaction, for Store::write(). The store's thread calls `on_end` once; it must be
// quick. All references must stay valid until then.
std::unique_ptr<store::Work> job_in_tx(
    engine::Engine& engine,
    queue::Queue& queue,
    const detail::ErasedJob& form,
    const JobRun& run,
    std::function<void(TxOutcome)> on_end
);

}  // namespace pawl::ops
