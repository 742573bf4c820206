#pragma once

#include "src/store/postgres/transaction.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace pawl::postgres {

// How long a statement of a shared transaction waits for a lock: all who share it wait along, and
// whoever holds the lock may wait for one of theirs.
constexpr std::chrono::milliseconds shared_lock_patience{20};
// A phase that takes longer holds up too many.
constexpr std::chrono::milliseconds slow_phase{100};

struct SharedRun {
    // Nothing was written, and each work is to be run alone: they met another transaction, or
    // one failed by itself that had no savepoint.
    enum class BrokeUp { no, met_another, threw } broke_up{BrokeUp::no};
    std::vector<std::exception_ptr> failed;  // Of each work, if it did not break up.
    // Kinds of works that should not share for a while: too slow, or with statements that change
    // the transaction for all.
    std::vector<const void*> apart;
    std::vector<const void*> threw;
};

// Works of one isolation in one transaction and one commit. What throws in its savepoint takes no
// neighbour with it. Statements whose answer nobody waits for travel with the next work's.
// `on_commit` is told when all have run: what follows only waits for the disk.
SharedRun run_shared(
    const TransactionParts& parts,
    std::span<const std::unique_ptr<store::Work>> works,
    const std::vector<bool>& in_savepoint,
    detail::FunctionRef<void()> on_commit
);

}  // namespace pawl::postgres
