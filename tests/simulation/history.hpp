#pragma once

#include "tests/simulation/choices.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

struct HistoryOptions {
    std::size_t clients_max{4};
    std::size_t processes_max{3};
    int crashes_max{2};
    int freezes_max{1};
    int clock_steps_max{2};
    int steps_max{400};  // With faults; after that faults end, and all must settle.
    int settling_steps_max{8'000};
    // One small world with every kind of fault, small enough to enumerate.
    bool small{false};
    bool small_works{false};  // With workers.
    bool tells{false};        // Records what happened, line by line.
    // Called after each step with a hash of the state of the database, the clients and the
    // receivers.
    std::function<void(std::uint64_t)> on_state{};
};

struct Ended {
    std::optional<std::string> violation;  // The invariant, and what was seen.
    std::vector<std::string> told;
    int steps{0};
    int crashes{0};
    int freezes{0};
    int clock_steps{0};
    int failed_commits{0};
    int jobs{0};                 // Tries of jobs.
    int effects{0};              // At the receivers.
    int expired{0};              // Keys that the reaper has removed.
    int settled{0};              // Settled by an operator.
    int restores{0};             // Of the database, from a backup.
    std::uint64_t end_state{0};  // A hash of the database: the same choices give the same hash.
};

// One history: servers with the real engine and services on one database, receivers of their calls,
// an embedded or external queue, and clients that repeat their requests until they have a final
// answer or give up. Every event is a choice. First with faults: processes die and stop, commits
// fail or get no answer, calls and replies are lost, days pass, a backup is restored. Then without
// faults, when all must settle.
Ended live(Choices& choices, const HistoryOptions& options);

}  // namespace pawl::simulation
