#pragma once

#include "src/queue/queue.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace pawl::queue {

// Opens the queue on first use. Opening a Kafka queue joins its group and takes partitions from
// other members, which a command that only inspects keys must not do.
class LazyQueue final : public Queue {
public:
    explicit LazyQueue(std::function<std::unique_ptr<Queue>()> open) : open_{std::move(open)} {}

    using Queue::claim;
    std::vector<ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
    ) override {
        return queue().claim(limit, lease, filter);
    }
    bool renew(const ClaimedJob& job, std::chrono::milliseconds lease) override {
        return queue().renew(job, lease);
    }
    FinishResult finish_in_transaction(detail::Session& session, const ClaimedJob& job) override {
        return queue().finish_in_transaction(session, job);
    }
    bool done_before(detail::Session& session, const ClaimedJob& job) override {
        return queue().done_before(session, job);
    }
    void finished(const ClaimedJob& job) override { queue().finished(job); }
    bool finish(const ClaimedJob& job) override { return queue().finish(job); }
    bool reschedule(
        const ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) override {
        return queue().reschedule(job, wait, error);
    }
    void release(const std::vector<ClaimedJob>& jobs) override { queue().release(jobs); }
    bool dead_letter(const ClaimedJob& job, const std::string& error) override {
        return queue().dead_letter(job, error);
    }
    bool mark_called(ClaimedJob& job) override { return queue().mark_called(job); }
    std::vector<bool> still_held(const std::vector<ClaimedJob>& jobs) override {
        return queue().still_held(jobs);
    }
    // Does not open the queue: a process without workers would be assigned Kafka partitions.
    int rescue(std::chrono::milliseconds lease) override {
        const auto is_open = [this] {
            const std::lock_guard lock{mutex_};
            return queue_ != nullptr;
        };
        return is_open() ? queue().rescue(lease) : 0;
    }
    std::optional<TimePoint> next_due() override { return queue().next_due(); }

private:
    Queue& queue() {
        const std::lock_guard lock{mutex_};
        if (!queue_) queue_ = open_();
        return *queue_;
    }

    std::function<std::unique_ptr<Queue>()> open_;
    std::mutex mutex_;
    std::unique_ptr<Queue> queue_;
};

}  // namespace pawl::queue
