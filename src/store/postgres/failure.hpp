#pragma once

#include <pawl/error.hpp>

#include <string_view>

namespace pawl::postgres {

// What an SQLSTATE means to Pawl (PostgreSQL's appendix A, error codes).
StoreError::Kind kind_of_state(std::string_view state);

// A hint for the errors that a wrong setting makes; empty for others.
std::string_view hint_for_state(std::string_view state);

}  // namespace pawl::postgres
