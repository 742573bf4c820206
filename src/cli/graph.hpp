#pragma once

#include <pawl/detail/form.hpp>

#include <ostream>

namespace pawl::cli {

// The flow of an operation as a Mermaid state diagram, or as JSON: its steps, the results of each,
// and the point that each result leads to.
void print_graph(const detail::OperationForm& operation, bool json, std::ostream& out);

}  // namespace pawl::cli
