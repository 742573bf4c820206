#pragma once

#include <pawl/detail/erased_operation.hpp>

#include "src/engine/tx_factory.hpp"

namespace pawl::engine {

// Runs the atomic phase `step` of the operation in the open transaction. If it refuses, its writes
// and the jobs that it staged are rolled back, and those of earlier steps stay. Throws what the
// phase throws; then the whole transaction must be rolled back.
detail::StepOutcome run_phase(
    detail::TxContext context,
    const detail::ErasedOperation& operation,
    const detail::ReachedPoint& at
);

// The final response; nullptr: the operation goes on.
Response* final_response(detail::StepOutcome& outcome);

}  // namespace pawl::engine
