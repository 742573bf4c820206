#pragma once

#include "src/base/clock.hpp"
#include "src/store/postgres/sharing_rule.hpp"
#include "src/store/store.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pawl::postgres {

// What a connection runs at once. Empty: the store stops.
struct WorkBatch {
    enum class Form {
        write,   // One work.
        read,    // One work.
        shared,  // Works of one isolation level, in one transaction.
        lookups
    };
    Form form{Form::write};
    std::vector<std::unique_ptr<store::Work>> works;
    std::vector<bool> in_savepoint;  // For each work of a shared batch.
    std::vector<std::unique_ptr<store::Lookup>> lookups;
    bool empty() const { return works.empty() && lookups.empty(); }
    bool ended{false};
};

struct WorkQueueLimits {
    std::size_t waiting_max{};
    int sharing{};              // Connections that may run shared transactions at once; 0: none.
    std::size_t share_max{64};  // Works in one transaction, and lookups in one packet.
};

// The queue of works for the connections: urgent ones first, then the oldest. Works that may share
// a transaction are left to a few connections, so that they gather while those are busy: batches
// size themselves without a timer. Thread-safe.
class WorkQueue {
public:
    // The clock outlives the queue.
    WorkQueue(WorkQueueLimits limits, base::Clock& clock)
        : limits_{limits}, clock_{clock}, rule_{limits.sharing} {}

    enum class Put { taken, too_many, stopping };
    // The argument is moved from only if the result is `taken`.
    Put write(std::unique_ptr<store::Work>& work, store::Urgency urgency);
    // Each with normal urgency, before a connection takes the first one.
    std::vector<Put> write_all(std::vector<std::unique_ptr<store::Work>>& works);
    Put read(std::unique_ptr<store::Work>& work);
    Put lookup(std::unique_ptr<store::Lookup>& lookup);

    // Waits for a batch; empty: the store stops. The thread that began to wait last gets the next
    // batch, so that few connections stay busy and warm.
    WorkBatch take();
    // Ends the batch as far as other threads wait for it. Idempotent.
    void ended(WorkBatch& batch);
    // Queues each to run alone, before all others; never refused.
    void reschedule_alone(std::vector<std::unique_ptr<store::Work>> works);

    void shared_went_well();
    void shared_broke_up();
    // See SharingRule.
    void keep_apart(const void* kind);
    void threw(const void* kind);

    // What waits is still run; then turns are empty.
    void stop();
    bool is_stopping() const;
    std::size_t waiting() const;
    // All waiting works, to be refused.
    WorkBatch take_all();

private:
    struct Waiting {
        std::uint64_t number{};  // In the order of arrival.
        std::unique_ptr<store::Work> work;
        bool writes{};
    };
    struct WaitingLookup {
        std::uint64_t number{};
        std::unique_ptr<store::Lookup> lookup;
    };
    struct Sleeper {
        std::condition_variable woken;
        bool awake{false};
    };
    enum class Source { none, urgent, alone, shared, lookups };

    std::size_t size() const {
        return urgent_.size() + alone_.size() + shared_.size() + lookups_.size();
    }
    std::optional<Put> refusal() const;
    Put put(std::unique_ptr<store::Work>& work, store::Urgency urgency);  // With mutex_ locked.
    Source next() const;
    WorkBatch take_from(Source source);
    void take_shared(WorkBatch& batch);
    void wake_one();

    const WorkQueueLimits limits_;
    base::Clock& clock_;
    mutable std::mutex mutex_;
    std::vector<Sleeper*> sleepers_;  // The last element fell asleep last.
    std::deque<Waiting> urgent_;
    std::deque<Waiting> alone_;
    std::deque<Waiting> shared_;
    std::deque<WaitingLookup> lookups_;
    std::uint64_t next_number_{1};
    int sharing_{0};
    int looking_up_{0};
    SharingRule rule_;
    bool stopping_{false};
};

}  // namespace pawl::postgres
