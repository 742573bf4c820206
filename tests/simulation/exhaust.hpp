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
    std::uint64_t states{0};  // Different ones, of what can be seen from outside the servers.
    std::optional<std::string> violation;
    std::vector<std::uint8_t> choices;  // Of the history that broke it.
};

// Every history with at most so many choices that are not quiet: each place at which something
// else can happen than the first that can go on, or something fail, in turn, and all pairs of them,
// and so on (delay bounding: Emmi, Qadeer, Rakamaric, POPL 2011). Ends at the first violation, or
// when `goes_on` says so.
Exhausted live_all(
    HistoryOptions options, int deviations, const std::function<bool(const Exhausted&)>& goes_on
);

// The list that comes after this one, depth first; nothing: it was the last. `highest` is what each
// choice could have been.
std::optional<std::vector<std::uint8_t>> next_list(
    std::vector<std::uint8_t> taken, const std::vector<std::uint8_t>& highest, int deviations
);

}  // namespace pawl::simulation
