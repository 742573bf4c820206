#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/store/store.hpp"

namespace pawl::queue {

// The `pawl_dead_jobs` table of the store.
class EmbeddedDeadLetters final : public DeadLetters {
public:
    // The store outlives this object.
    explicit EmbeddedDeadLetters(store::Store& store) : store_{store} {}

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

private:
    store::Store& store_;
};

}  // namespace pawl::queue
