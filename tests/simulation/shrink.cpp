#include "tests/simulation/shrink.hpp"

#include <algorithm>
#include <cstddef>

namespace pawl::simulation {

namespace {

using List = std::vector<std::uint8_t>;

List without(const List& list, std::size_t from, std::size_t count) {
    auto shorter = list;
    const auto first = shorter.begin() + static_cast<std::ptrdiff_t>(from);
    shorter.erase(first, first + static_cast<std::ptrdiff_t>(count));
    return shorter;
}

List quiet(const List& list, std::size_t from, std::size_t count) {
    auto quieter = list;
    std::fill_n(quieter.begin() + static_cast<std::ptrdiff_t>(from), count, std::uint8_t{0});
    return quieter;
}

}  // namespace

List shrunk(List choices, const std::function<bool(const List&)>& fails, int tries_max) {
    int tries = 0;
    const auto takes = [&](List candidate) {
        if (candidate == choices || ++tries > tries_max || !fails(candidate)) return false;
        choices = std::move(candidate);
        return true;
    };
    for (std::size_t piece = std::max<std::size_t>(choices.size() / 2, 1);; piece /= 2) {
        for (std::size_t at = 0; at < choices.size() && tries < tries_max;) {
            const auto count = std::min(piece, choices.size() - at);
            if (takes(without(choices, at, count))) continue;  // The rest of the list moved here.
            takes(quiet(choices, at, count));
            at += count;
        }
        if (piece <= 1 || tries >= tries_max) break;
    }
    // Trailing choices are quiet anyway.
    while (!choices.empty() && choices.back() == 0) choices.pop_back();
    return choices;
}

}  // namespace pawl::simulation
