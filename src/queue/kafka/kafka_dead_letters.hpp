#pragma once

#include "src/base/clock.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/store/store.hpp"

#include <memory>

namespace pawl::queue {

// The dead-letter topics of all queues of the prefix and group. A record can be neither changed nor
// removed: what people decide about one is a mark in our store, and a marked one is not shown. Its
// id is its time and its place, so that the oldest comes first. Each look reads the topics from
// their beginning: their retention is the bound. Where a death between a record and its offset has
// written a letter twice, the first is shown, and what settles one settles both.
//
// A merge is three steps: the marks `merging` commit, the records are sent, the marks become
// `merged`. What died in between is shown on, and merging it again sends it again under its jid:
// the job may be there twice, and the inbox knows when it is done.
class KafkaDeadLetters final : public DeadLetters {
public:
    // The store and the clock outlive it.
    KafkaDeadLetters(const KafkaOptions& options, store::Store& store, base::Clock& clock);
    ~KafkaDeadLetters() override;

    std::vector<DeadLetter> page(const DeadFilter& filter, const std::string& after, int limit)
        override;
    std::vector<DeadGroup> groups(const DeadFilter& filter) override;
    std::optional<DeadLetter> find(const std::string& id) override;
    DeadDone purge(std::span<const std::string> ids, const DeadAct& act) override;
    DeadDone merge(
        std::span<const std::string> ids,
        const DeadAct& act,
        std::optional<TimePoint> remembered_since
    ) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue
