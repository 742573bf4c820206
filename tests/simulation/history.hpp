#pragma once

#include "tests/simulation/choices.hpp"

#include <cstddef>
#include <cstdint>
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
    int settling_steps_max{4'000};
    bool tells{false};  // What happened, line by line.
};

struct Ended {
    std::optional<std::string> violation;  // Which invariant, and what was seen.
    std::vector<std::string> told;
    int steps{0};
    int crashes{0};
    int freezes{0};
    int clock_steps{0};
    int failed_commits{0};
    std::uint64_t end_state{0};  // A hash of what the database holds: the same choices, the same.
};

// One history: servers with the real engine and completer on one database, a provider, and clients
// that repeat their requests until they have a final answer or give up. Everything that happens is
// a choice. First with faults: processes die and stop, commits fail or get no answer, replies are
// lost. Then without, when all must settle. Invariants by their numbers in docs/reliability.md.
Ended live(Choices& choices, const HistoryOptions& options);

}  // namespace pawl::simulation
