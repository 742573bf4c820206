#pragma once

#include <pawl/detail/erased_operation.hpp>

#include <ostream>

namespace pawl::cli {

// The flow of an operation as a Mermaid state diagram, or as JSON: its steps, the results of each,
// and the point that each result leads to.
void print_graph(const detail::ErasedOperation& operation, bool json, std::ostream& out);

}  // namespace pawl::cli
