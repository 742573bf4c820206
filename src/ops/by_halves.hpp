#pragma once

#include <cstddef>
#include <span>

namespace pawl::ops {

struct Halved {
    int removed{};
    int left{};
};

// Removes what can be removed of a batch. `remove_all(span)` removes all that it is given and says
// true, or leaves all of it as it was. One of 500 that can't go leaves its batch in nine halvings,
// with 19 tries; one by one, a batch over a slow network would never end within its deadline.
template <class T, class F>
Halved by_halves(std::span<const T> batch, F& remove_all) {
    if (batch.empty()) return {};
    const auto count = static_cast<int>(batch.size());
    if (remove_all(batch)) return {.removed = count};
    if (batch.size() == 1) return {.left = 1};
    const auto half = batch.size() / 2;
    const auto first = by_halves(batch.first(half), remove_all);
    const auto second = by_halves(batch.subspan(half), remove_all);
    return {first.removed + second.removed, first.left + second.left};
}

}  // namespace pawl::ops
