#pragma once

#include <pawl/detail/job_form.hpp>
#include <pawl/detail/session.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::queue {

// A job in a worker's hands, under a lease.
struct TakenJob {
    std::string id;        // Its place in the queue, the queue's own; unlike every other in hand.
    std::int64_t claim{};  // The fence: no two takings of a job have the same.
    int failures{};        // Before this try.
    std::string queue;
    std::string kind;
    std::optional<TimePoint> called_at;  // First call to the outside under this job's key.
    std::string held;                    // As the queue holds it; the queue's own.
    detail::RawJob raw;
};

// What became of the mark that a job is done, in its handler's transaction.
enum class Marked {
    done,        // It commits, or goes, with the transaction.
    lost,        // The lease was lost: the job is another's.
    done_before  // Another transaction did it: this one must not.
};

// The port that every queue implements; the suite in tests/conformance says what it must do. Every
// member blocks, may be called from any thread, and throws StoreError, of a queue outside the
// database, too. Those that return bool say false if the lease was lost: the job is another's, and
// nothing was written.
class Queue {
public:
    virtual ~Queue() = default;

    // At most `limit` jobs that are due, each under a lease of `lease` from now.
    virtual std::vector<TakenJob> take(int limit, std::chrono::milliseconds lease) = 0;
    virtual bool renew(const TakenJob& job, std::chrono::milliseconds lease) = 0;

    // Marks a job done in the transaction of its handler: its writes and the mark commit together.
    // A lost lease may also come out as StoreError (fenced), now, later or with the commit.
    virtual Marked finish_in(detail::Session& session, const TakenJob& job) = 0;
    // Whether an earlier transaction has done this job, which a queue outside has brought again.
    virtual bool done_before(detail::Session& session, const TakenJob& job) = 0;
    // After that transaction has committed, or found the job done before: takes it out of a queue
    // outside the database. If this fails, the job comes again, and is found done before.
    virtual void finished(const TakenJob& job) = 0;
    virtual bool finish(const TakenJob& job) = 0;
    // Not before `run_at`; with an error it counts as a failure.
    virtual bool put_back(
        const TakenJob& job, TimePoint run_at, const std::optional<std::string>& error
    ) = 0;
    // To the dead letters.
    virtual bool bury(const TakenJob& job, const std::string& error) = 0;
    // Before the first call to the outside under the job's key; sets job.called_at.
    virtual bool mark_called(TakenJob& job) = 0;

    // Frees the jobs of dead workers, and those whose lease ends later than any taken now could;
    // returns how many.
    virtual int rescue(std::chrono::milliseconds lease) = 0;
    // When the next waiting job is due, if there is one. A queue outside may answer too early.
    virtual std::optional<TimePoint> next_due() = 0;
};

}  // namespace pawl::queue
