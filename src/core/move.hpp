#pragma once

#include "src/core/assert.hpp"

#include <cstddef>

namespace pawl::core {

// Steps are numbered as in the flow; `finished` is their number. The types guarantee this already;
// it is checked again before a write (I4).
constexpr void check_move(std::size_t from, std::size_t to, std::size_t finished) {
    PAWL_ASSERT(from < finished);  // A finished key never moves.
    PAWL_ASSERT(from < to);        // A key only moves forward.
    PAWL_ASSERT(to <= finished);
}

}  // namespace pawl::core
