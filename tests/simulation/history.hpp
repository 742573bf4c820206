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
    int steps_max{400};  // With faults; then they end, and all must settle.
    int settling_steps_max{8'000};
    // One small world with every kind of fault, where each choice counts: to enumerate.
    bool small{false};
    bool small_works{false};  // With workers.
    bool tells{false};        // What happened, line by line.
    // Told a hash of what the database, the clients and the receivers hold, after each step.
    std::function<void(std::uint64_t)> on_state{};
};

struct Ended {
    std::optional<std::string> violation;  // Which invariant, and what was seen.
    std::vector<std::string> told;
    int steps{0};
    int crashes{0};
    int freezes{0};
    int clock_steps{0};
    int failed_commits{0};
    int jobs{0};                 // Tries of jobs.
    int effects{0};              // At the receivers.
    int expired{0};              // Keys that the reaper has taken.
    int settled{0};              // By a person.
    std::uint64_t end_state{0};  // A hash of what the database holds: the same choices, the same.
};

// One history: servers with the real engine and services on one database, receivers of their calls,
// a queue inside or outside, and clients that repeat their requests until they have a final answer
// or give up. Everything that happens is a choice. First with faults: processes die and stop,
// commits fail or get no answer, calls and replies are lost, days pass. Then without, when all must
// settle.
Ended live(Choices& choices, const HistoryOptions& options);

}  // namespace pawl::simulation
