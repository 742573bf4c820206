#pragma once

#include <pawl/detail/form.hpp>

#include <ostream>

namespace pawl::cli {

// The flow of an operation as a Mermaid state diagram, or as JSON: its steps, what each leads to,
// and by which results.
void print_graph(const detail::OperationForm& operation, bool json, std::ostream& out);

}  // namespace pawl::cli
