#pragma once

#include "src/base/clock.hpp"
#include "src/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace pawl::memory {

struct MemoryOptions {
    enum class Drive {
        at_once,  // write() runs what waits on the thread that calls it, or leaves it to one that
                  // does.
        by_hand   // Only step() runs anything: a simulator decides when.
    };
    Drive drive{Drive::at_once};
    std::size_t waiting_max{20'000};
};

// What becomes of the next transaction that would commit.
enum class Fate {
    refused,          // Undone, and the caller is told so: StoreError, rolled_back.
    in_doubt_kept,    // COMMIT was sent and no answer came; it was kept.
    in_doubt_undone,  // The same to the caller; it was not.
    dies_before,      // The process dies before its COMMIT: undone, and nobody is told anything.
    dies_after        // The process dies after its COMMIT: kept, and nobody is told anything.
};

// For the simulator and for tests: all in memory, no thread, no file, no clock of its own, so that
// the same calls make the same run.
//
// It is the named statements of SQLite, on a database in memory of one connection, with one
// transaction for each work, renewals first, otherwise in the order of submission. So an
// application's own tables and statements work on it, and it can't be wrong about SQL in a way of
// its own. It is not a second implementation to compare SQLite's statements with; it has no group
// commit, no readers beside the writer, no durability, and no other process ever sees it.
//
// A read runs at once and sees what is committed. Neither may be called from within run() of a
// work.
class MemoryStore final : public store::Store {
public:
    explicit MemoryStore(base::Clock& clock, MemoryOptions options = {});  // The clock outlives it.
    ~MemoryStore() override;

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void read(std::unique_ptr<store::Work> work) override;
    std::optional<std::string_view> text_of(const Sql& statement) const override;
    store::StoreStats stats() const override;
    // Rows written since it was made, those that were undone too: while it stays, nothing changes.
    std::int64_t changes() const;
    void stop() override;

    enum class Step { nothing_waits, ran, died };
    // Drive::by_hand: runs the transaction whose turn it is. After `died` the store is as a new
    // process finds it.
    Step step();
    std::size_t waiting() const;

    // A commit that dies is for by_hand alone: whoever blocks on its answer would wait for ever.
    void plan_next_commit(Fate fate, StoreError::Kind kind = StoreError::Kind::unavailable);
    // What was planned and met no commit, as its transaction was undone anyway, is planned no more.
    void plan_nothing();
    // Drive::by_hand: the process dies now. What waits is dropped; its done() is never called.
    void crash();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::memory
