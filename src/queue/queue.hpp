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
    std::int64_t id{};
    int claim{};     // The fence: counts claims of this job.
    int failures{};  // Before this try.
    std::string queue;
    std::string kind;
    std::optional<TimePoint> called_at;  // First call to the outside under this job's key.
    detail::RawJob raw;
};

// The port that every queue implements; the suite in tests/conformance says what it must do. Every
// member blocks, may be called from any thread, and throws StoreError. Those that return bool say
// false if the lease was lost: the job is another's, and nothing was written.
class Queue {
public:
    virtual ~Queue() = default;

    // At most `limit` jobs that are due, each under a lease of `lease` from now.
    virtual std::vector<TakenJob> take(int limit, std::chrono::milliseconds lease) = 0;
    virtual bool renew(const TakenJob& job, std::chrono::milliseconds lease) = 0;

    // Marks a job done in the transaction of its handler: its writes and the mark commit together.
    virtual bool finish_in(detail::Session& session, const TakenJob& job) = 0;
    virtual bool finish(const TakenJob& job) = 0;
    // Not before `run_at`; with an error it counts as a failure.
    virtual bool put_back(
        const TakenJob& job, TimePoint run_at, const std::optional<std::string>& error
    ) = 0;
    // To the dead jobs.
    virtual bool bury(const TakenJob& job, const std::string& error) = 0;
    // Before the first call to the outside under the job's key.
    virtual bool mark_called(const TakenJob& job) = 0;

    // Frees the jobs of dead workers, and those whose lease ends later than any taken now could;
    // returns how many.
    virtual int rescue(std::chrono::milliseconds lease) = 0;
    // When the next waiting job is due, if there is one.
    virtual std::optional<TimePoint> next_due() = 0;
};

}  // namespace pawl::queue
