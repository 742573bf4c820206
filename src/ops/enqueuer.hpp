#pragma once

#include "src/base/clock.hpp"
#include "src/queue/pusher.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace pawl::ops {

using namespace std::chrono_literals;

struct EnqueuerOptions {
    int batch_max{1'000};  // Jobs per push, and per transaction.
    // How long a batch belongs to one enqueuer; if that one dies, another pushes it again.
    std::chrono::milliseconds claim{60s};
    std::chrono::milliseconds wait_first{20ms};  // With nothing to do; doubled at each poll...
    std::chrono::milliseconds wait_max{1s};      // ...up to this: other servers stage jobs, too.
    std::chrono::milliseconds outage_wait_max{10s};  // While the queue is away.
    std::chrono::milliseconds look_elsewhere{10s};   // How often to call move_leftovers().
    std::optional<std::string> problem() const;
};

struct EnqueueReport {
    int sent{};
    int refused{};  // Moved to the dead letters of the database: the queue will never accept them.
    int moved{};    // Moved from where another setting of the queue had put them.
};

// Drains the staged jobs to the queue: claims a batch, pushes it, and deletes exactly what was
// sent; no transaction is open during the push. After a crash between push and delete the batch is
// pushed again, under the same ids. Safe on several machines at once. With the embedded queue it
// only moves what an earlier setting, with an external queue, has left.
class Enqueuer {
public:
    // All outlive it. pusher is nullptr with the embedded queue.
    Enqueuer(
        store::Store& store, base::Clock& clock, queue::Pusher* pusher, EnqueuerOptions options
    );

    // One batch. Throws StoreError, of the database or the queue; the claimed jobs are then free.
    EnqueueReport run_once();
    // Moves a batch of what another setting of the queue has left: ready jobs of the embedded queue
    // if there is an external one, staged jobs if there is none.
    EnqueueReport move_leftovers();
    void run(const std::stop_token& stop);
    // To be called when jobs were staged. From any thread; quick.
    void wake();
    // `f` gets the number of jobs that each push added to the queue. Set before run().
    void on_sent(std::function<void(int jobs)> f) { on_sent_ = std::move(f); }

private:
    bool anything_staged(std::optional<TimePoint> due_by);  // Default: due by now.
    std::vector<queue::StagedJob> claim();
    void delete_sent(const std::vector<std::int64_t>& ids);
    int dead_letter_damaged(std::vector<queue::StagedJob>& jobs);
    void dead_letter_staged(const queue::StagedJob& job, const std::string& error);
    void release(std::span<const queue::StagedJob> jobs) noexcept;
    int jobs_to_staged();
    int staged_to_jobs();

    store::Store& store_;
    base::Clock& clock_;
    queue::Pusher* pusher_;
    EnqueuerOptions options_;
    std::function<void(int)> on_sent_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::uint64_t wakes_{0};
};

}  // namespace pawl::ops
