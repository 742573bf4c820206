#pragma once

#include "src/base/clock.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/queue_depth.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <memory>

namespace pawl::queue {

// The dead-letter topics of all queues of the prefix and group. Records can be neither changed nor
// deleted, so a decision about one is a mark in the store, and a marked record is not shown. An id
// is time and place, so that the oldest comes first. Each query reads the topics from their
// beginning: retention bounds the cost. If a death was written twice (a crash between a record and
// its offset), the first is shown, and settling it settles both.
//
// A merge has three steps: commit the marks `merging`, send the records, set the marks to `merged`.
// After a crash in between the dead letter is still shown, and merging it again sends it again
// under its jid: the job may then be there twice, and the inbox detects the second.
class KafkaDeadLetters final : public DeadLetters {
public:
    // The store and the clock outlive this object.
    KafkaDeadLetters(const KafkaOptions& options, store::Store& store, base::Clock& clock);
    ~KafkaDeadLetters() override;

    std::vector<DeadLetter> page(
        const DeadLetterFilter& filter, const std::string& after, int limit
    ) override;
    std::vector<DeadLetterGroup> groups(const DeadLetterFilter& filter) override;
    std::optional<DeadLetter> find(const std::string& id) override;
    PurgeResult purge(std::span<const std::string> ids, const AuditEntry& act) override;
    PurgeResult merge(
        std::span<const std::string> ids,
        const AuditEntry& act,
        std::optional<TimePoint> remembered_since
    ) override;

    // For metrics: those among the newest records of each partition. A queue without a topic of
    // dead letters is left out.
    DeadCounts counts(std::int64_t newest = 1'000);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue
