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
    int batch_max{1'000};  // Jobs a push, and a transaction.
    // How long a batch is one enqueuer's alone; after its death another pushes it again.
    std::chrono::milliseconds claim{60s};
    std::chrono::milliseconds first_wait{20ms};  // With nothing to do, doubled at each look...
    std::chrono::milliseconds longest_wait{1s};  // ...up to this: other servers stage, too.
    std::chrono::milliseconds longest_outage_wait{10s};  // Likewise while the queue is away.
    std::chrono::milliseconds look_elsewhere{10s};  // For what another setting of the queue left.
    std::optional<std::string> problem() const;
};

struct EnqueueReport {
    int sent{};
    int refused{};  // To the dead letters of the database: the queue will never take them.
    int moved{};    // From where another setting of the queue had put them.
};

// Drains the staged jobs to the queue: claims a batch, pushes it, and deletes exactly what was
// sent; no transaction is open while it pushes. A crash between push and delete pushes again, under
// the same ids. Safe on several machines at once. With the embedded queue it only moves what a
// queue outside, set before, has left.
class Enqueuer {
public:
    // All outlive it. No pusher: the embedded queue.
    Enqueuer(
        store::Store& store, base::Clock& clock, queue::Pusher* pusher, EnqueuerOptions options
    );

    // One batch. Throws StoreError, of the database or the queue; then what was claimed is free.
    EnqueueReport run_once();
    // What lies where another setting of the queue had put it, a batch: ready jobs of the embedded
    // queue when there is one outside, staged jobs when there is none.
    EnqueueReport move_leftovers();
    void run(const std::stop_token& stop);
    // Jobs were staged. From any thread; quick.
    void wake();
    // Told after each push how many jobs the queue has now. Set before run().
    void on_sent(std::function<void(int jobs)> f) { on_sent_ = std::move(f); }

private:
    bool anything_staged(std::optional<TimePoint> due_by);  // By default, by now.
    std::vector<queue::StagedJob> claim();
    void delete_sent(const std::vector<std::int64_t>& ids);
    int bury_damaged(std::vector<queue::StagedJob>& jobs);
    void bury_staged(std::int64_t staged_id, const std::string& error);
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
