#pragma once

#include "benchmarks/histogram.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace pawl::bench {

// When each job was committed and when its handler ended, and how many did. All members from any
// thread, except latencies().
class JobLedger {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit JobLedger(std::size_t capacity);  // Number of jobs in total; 16 bytes each.

    // The first of `how_many` unused numbers; nullopt if there are no more.
    std::optional<std::int64_t> take(int how_many);
    void committed(std::int64_t first, int how_many, Time at);
    // Only the first end of a job counts: a handler may run again.
    void ended(std::int64_t number, Time at);

    std::int64_t committed_count() const { return committed_count_; }
    std::int64_t ended_count() const { return ended_count_; }
    // Waits until `count` jobs have ended; false if no job ended for as long as `patience`.
    bool wait_ended(std::int64_t count, std::chrono::milliseconds patience);

    // Microseconds from commit to end of all jobs from the number `first` on that have both; 0 if
    // the handler was faster than the report of its commit.
    Histogram latencies(std::int64_t first = 0) const;

private:
    std::vector<std::atomic<std::int64_t>> committed_at_;  // Nanoseconds; 0: not yet.
    std::vector<std::atomic<std::int64_t>> ended_at_;
    std::atomic<std::int64_t> next_{0};
    std::atomic<std::int64_t> committed_count_{0};
    std::atomic<std::int64_t> ended_count_{0};
    std::atomic<int> waiting_{0};
    std::mutex mutex_;
    std::condition_variable more_ended_;
};

}  // namespace pawl::bench
