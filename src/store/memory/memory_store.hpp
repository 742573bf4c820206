#pragma once

#include "src/base/clock.hpp"
#include "src/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::memory {

struct MemoryOptions {
    enum class Drive {
        // write() runs the waiting works on the calling thread, unless another thread is doing so.
        at_once,
        by_hand  // Only step() runs works: a simulator decides when.
    };
    Drive drive{Drive::at_once};
    std::size_t waiting_max{20'000};
};

// The fate of the next transaction that would commit.
enum class CommitFate {
    refused,          // Rolled back and reported: StoreError, rolled_back.
    in_doubt_kept,    // COMMIT was sent and no answer came; it was committed.
    in_doubt_undone,  // The same to the caller, but rolled back.
    dies_before,      // The process dies before its COMMIT: rolled back, no answer.
    dies_after        // The process dies after its COMMIT: committed, no answer.
};

// For the simulator and tests: in memory, without threads, files or a clock of its own, so that the
// same calls make the same run.
//
// It runs SQLite's named statements on an in-memory database with one connection: one transaction
// for each work, renewals first, otherwise in the order of submission. So an application's own
// tables and statements work, and SQL behaves as on SQLite. It is no second implementation to
// compare SQLite's statements with, and it has no group commit, no concurrent readers, no
// durability and no other process.
//
// A read runs at once and sees what is committed. Neither read() nor write() may be called within a
// work's run().
class MemoryStore final : public store::Store {
public:
    // The clock outlives the store.
    explicit MemoryStore(base::Clock& clock, MemoryOptions options = {});
    ~MemoryStore() override;

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void read(std::unique_ptr<store::Work> work) override;
    std::string_view text_of(const Sql& statement) const override { return statement.sqlite; }
    store::StoreStats stats() const override;
    // Rows written since the start, including those rolled back. Unchanged: no writes.
    std::int64_t changes() const;
    void stop() override;

    enum class Step { nothing_waits, ran, died };
    // Drive::by_hand: runs the next transaction. After `died` it is as after a restart.
    Step step();
    std::size_t waiting() const;

    // Fates that die need Drive::by_hand: a thread that blocks on the answer would wait forever.
    void plan_next_commit(CommitFate fate, StoreError::Kind kind = StoreError::Kind::unavailable);
    // Drops the plan, if the transaction was rolled back before its commit.
    void plan_nothing();
    // Drive::by_hand: the process dies now. Waiting works are dropped without done().
    void crash();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::memory
