#pragma once

#include <cstddef>
#include <span>

namespace pawl::ops {

struct Bisected {
    int removed{};
    int left{};
};

// Removes as much of a batch as possible. `remove_all(span)` removes all of the span and returns
// true, or changes nothing. A batch of 500 with one item that can't be removed takes 19 tries; one
// by one, a batch over a slow network would miss its deadline.
template <class T, class F>
Bisected bisect(std::span<const T> batch, F& remove_all) {
    if (batch.empty()) return {};
    const auto count = static_cast<int>(batch.size());
    if (remove_all(batch)) return {.removed = count};
    if (batch.size() == 1) return {.left = 1};
    const auto half = batch.size() / 2;
    const auto first = bisect(batch.first(half), remove_all);
    const auto second = bisect(batch.subspan(half), remove_all);
    return {first.removed + second.removed, first.left + second.left};
}

}  // namespace pawl::ops
