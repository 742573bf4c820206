#pragma once

#include "src/core/assert.hpp"
#include "tests/simulation/planted.hpp"

// The first include of each copy that plant_faults makes. In a copy an assertion that a fault
// breaks is noted, and the history goes on: what the fault does must be found there, too.
#undef PAWL_ASSERT
#define PAWL_ASSERT(condition) \
    (static_cast<bool>(condition) ? void(0) : ::pawl::note_assertion(#condition))
