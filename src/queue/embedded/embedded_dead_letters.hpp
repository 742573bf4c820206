#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/store/store.hpp"

namespace pawl::queue {

// The `dead_jobs` table of the store.
class EmbeddedDeadLetters final : public DeadLetters {
public:
    // The store outlives this object.
    explicit EmbeddedDeadLetters(store::Store& store) : store_{store} {}

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
    store::Store& store_;
};

}  // namespace pawl::queue
