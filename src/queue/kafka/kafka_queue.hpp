#pragma once

#include "src/base/clock.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/queue.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace pawl::queue {

// One member of a queue's consumer group. Kafka assigns a partition to one member at a time. Within
// it each job has a lease of this process, which ends if a worker could not mark its result.
//
// A failed job is written to a retry topic or the dead-letter topic before its offset is committed:
// after a crash in between it is there twice, under one jid. A done job is recorded in the store's
// inbox, in the handler's transaction if it has one, before its offset is committed: if it is
// delivered again, the inbox has it.
class KafkaQueue final : public Queue {
public:
    // Joins in the background. The store and the clock outlive the queue. Throws
    // std::invalid_argument for a name that no topic can have, and for settings that librdkafka
    // refuses.
    KafkaQueue(KafkaOptions options, std::string name, store::Store& store, base::Clock& clock);
    ~KafkaQueue() override;  // Commits, and leaves the group.

    // Waits up to options.claim_wait for a due job. Throws StoreError while no broker answers.
    using Queue::claim;
    std::vector<ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
    ) override;
    bool renew(const ClaimedJob& job, std::chrono::milliseconds lease) override;
    FinishResult finish_in_transaction(detail::Session& session, const ClaimedJob& job) override;
    bool done_before(detail::Session& session, const ClaimedJob& job) override;
    void finished(const ClaimedJob& job) override;
    bool finish(const ClaimedJob& job) override;
    bool reschedule(
        const ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) override;
    void release(const std::vector<ClaimedJob>& jobs) override;  // Writes no record.
    bool dead_letter(const ClaimedJob& job, const std::string& error) override;
    bool mark_called(ClaimedJob& job) override;
    int rescue(std::chrono::milliseconds lease) override;
    std::optional<TimePoint> next_due() override;

    // Whether this member has read, within `limit`, all that its partitions hold at the time of the
    // call. Without partitions it waits for an assignment. Throws StoreError.
    bool wait_read(std::chrono::milliseconds limit);
    // Whether all finished work is committed within `limit`.
    bool wait_committed(std::chrono::milliseconds limit);
    std::size_t partition_count();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue
