#pragma once

#include "tests/simulation/history.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

struct Exhausted {
    std::uint64_t histories{0};
    std::uint64_t steps{0};
    std::uint64_t states{0};  // Distinct states, as seen from outside the servers.
    std::optional<std::string> violation;
    std::vector<std::uint8_t> choices;  // Choices of the history with the violation.
};

// Runs every history with a limited number of non-quiet choices: each step at which another process
// could run, or a fault occur, in turn, then all pairs of them, and so on (delay bounding: Emmi,
// Qadeer, Rakamaric, POPL 2011). Ends at the first violation, or when `goes_on` returns false.
Exhausted live_all(
    HistoryOptions options, int deviations, const std::function<bool(const Exhausted&)>& goes_on
);

// The next list, depth first; nullopt: it was the last. `highest` has the highest value of each
// choice.
std::optional<std::vector<std::uint8_t>> next_list(
    std::vector<std::uint8_t> taken, const std::vector<std::uint8_t>& highest, int deviations
);

}  // namespace pawl::simulation
