#pragma once

#include "src/store/postgres/transaction.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace pawl::postgres {

// Lock timeout in a shared transaction: all its works wait, and the holder may wait for one.
constexpr std::chrono::milliseconds shared_lock_timeout{20};
// A slower phase delays too many others.
constexpr std::chrono::milliseconds slow_phase{100};

struct SharedRun {
    // Nothing was committed, and each work must run alone: the transaction met another one, or a
    // work without a savepoint failed.
    enum class Split { no, conflicted, threw } split{Split::no};
    std::vector<std::exception_ptr> failed;  // For each work, if the transaction did not break up.
    // Kinds that should not share for a while: slow ones, and those that change the transaction.
    std::vector<const void*> apart;
    std::vector<const void*> threw;
};

// Runs works of one isolation level in one transaction with one commit. A failure within a
// savepoint affects only its work. Statements without awaited answers are sent with the next
// work's. `on_commit` is called when all works have run and only the disk is waited for.
SharedRun run_shared(
    const TransactionParts& parts,
    std::span<const std::unique_ptr<store::Work>> works,
    const std::vector<bool>& in_savepoint,
    detail::FunctionRef<void()> on_commit
);

}  // namespace pawl::postgres
