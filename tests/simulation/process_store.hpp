#pragma once

#include "src/store/memory/memory_store.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace pawl::simulation {

// One process's access to the shared database. Its work waits until the scheduler runs it, one
// transaction at a time, in any order, as with several connections.
class ProcessStore final : public store::Store {
public:
    explicit ProcessStore(memory::MemoryStore& database) : database_{database} {}

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency) override {
        submit(std::move(work), true);
    }
    void read(std::unique_ptr<store::Work> work) override { submit(std::move(work), false); }
    std::string_view text_of(const Sql& statement) const override {
        return database_.text_of(statement);
    }
    bool serves_one_process() const override { return false; }
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
    std::vector<Waiting> line_;
    bool dead_{false};
};

}  // namespace pawl::simulation
