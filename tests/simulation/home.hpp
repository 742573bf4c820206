#pragma once

#include "src/engine/installation.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/simulation/process.hpp"

#include <deque>
#include <string>
#include <vector>

namespace pawl::simulation {

// A database with its tables, reset for each history: creating one takes longer than a history.
class Home {
public:
    Home() : installation_{made()} {}
    void empty();
    // Keeps a copy of all rows, one at a time; puts it in their place.
    void back_up() { run_all(backing_up_); }
    void restore() { run_all(restoring_); }
    const engine::Installation& installation() const { return installation_; }

    SimClock clock;
    SimRandom random{42};
    memory::MemoryStore database{clock};

private:
    void run(const std::string& text);
    void run_all(const std::vector<Sql>& statements);
    void keep(std::vector<Sql>& in, std::string text);
    engine::Installation made();

    std::deque<std::string> texts_;
    std::vector<Sql> emptied_, backing_up_, restoring_;
    engine::Installation installation_;
};

// The one of this thread.
Home& home();

}  // namespace pawl::simulation
