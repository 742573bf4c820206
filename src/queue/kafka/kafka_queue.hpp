#pragma once

#include "src/base/clock.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/queue.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace pawl::queue {

// One member of a queue's consumer group. A partition is one member's at a time; within it a job
// has a lease of this process, which ends where a worker could not mark what became of it.
//
// A job that fails goes to a retry topic, then to the dead-letter topic, and then its offset may be
// committed: if the process dies in between, it is there twice, under one jid. What is done is in
// the store's inbox, in the handler's own transaction where it has one, before its offset may be
// committed: whoever brings it again finds it there.
class KafkaQueue final : public Queue {
public:
    // Joins in the background. The store and the clock outlive it. Throws std::invalid_argument for
    // a name that no topic can have, and for settings that librdkafka does not take.
    KafkaQueue(KafkaOptions options, std::string name, store::Store& store, base::Clock& clock);
    ~KafkaQueue() override;  // Commits, and leaves the group.

    // Waits up to options.take_wait for one that is due. Throws StoreError while no broker answers.
    std::vector<TakenJob> take(int limit, std::chrono::milliseconds lease) override;
    bool renew(const TakenJob& job, std::chrono::milliseconds lease) override;
    Marked finish_in(detail::Session& session, const TakenJob& job) override;
    bool done_before(detail::Session& session, const TakenJob& job) override;
    void finished(const TakenJob& job) override;
    bool finish(const TakenJob& job) override;
    bool put_back(const TakenJob& job, TimePoint run_at, const std::optional<std::string>& error)
        override;
    bool bury(const TakenJob& job, const std::string& error) override;
    bool mark_called(TakenJob& job) override;
    int rescue(std::chrono::milliseconds lease) override;
    std::optional<TimePoint> next_due() override;

    // Whether this member has read all that its partitions hold at the moment of the call, within
    // `limit`; while it has none, it waits for them. Throws StoreError.
    bool wait_read(std::chrono::milliseconds limit);
    // Whether its brokers know all that it has done, within `limit`.
    bool wait_committed(std::chrono::milliseconds limit);
    std::size_t partition_count();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue
