#pragma once

#include "src/store/memory/memory_store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace pawl::simulation {

// The session locks of the living processes, by their numbers.
using HeldLocks = std::set<std::int64_t>;

// One process's access to the shared database. Its work waits until the scheduler runs it, one
// transaction at a time, in any order, as with several connections.
class ProcessStore final : public store::Store {
public:
    ProcessStore(memory::MemoryStore& database, HeldLocks& locks, std::int64_t own_lock)
        : database_{database}, locks_{locks}, own_lock_{own_lock} {
        locks_.insert(own_lock);
    }

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency) override {
        submit(std::move(work), true);
    }
    void read(std::unique_ptr<store::Work> work) override { submit(std::move(work), false); }
    std::string_view text_of(const Sql& statement) const override {
        return database_.text_of(statement);
    }
    bool serves_one_process() const override { return false; }
    std::optional<std::int64_t> session_lock() override { return own_lock_; }
    void stop() override {}

    std::size_t waiting() const { return line_.size(); }
    // Runs the nth waiting transaction, with a fate if it would commit; a read with a fate fails.
    void step(std::size_t nth, std::optional<memory::CommitFate> fate);
    // The process is dead: none of its work reaches the database any more.
    void kill();
    // Whether a transaction of any process is open on this thread (I20).
    static bool in_transaction();

private:
    struct Waiting {
        std::unique_ptr<store::Work> work;
        bool writes{};
    };
    void submit(std::unique_ptr<store::Work> work, bool writes);

    memory::MemoryStore& database_;
    HeldLocks& locks_;
    std::int64_t own_lock_;
    std::vector<Waiting> line_;
    bool dead_{false};
};

}  // namespace pawl::simulation
