#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace pawl::simulation {

// A shorter and quieter list that still fails: ever smaller pieces become quiet or are removed
// (delta debugging, Zeller and Hildebrandt, TSE 2002), with a limited number of tries.
std::vector<std::uint8_t> shrunk(
    std::vector<std::uint8_t> choices,
    const std::function<bool(const std::vector<std::uint8_t>&)>& fails,
    int tries_max
);

}  // namespace pawl::simulation
