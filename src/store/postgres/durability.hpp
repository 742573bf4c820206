#pragma once

#include "src/base/warning.hpp"
#include "src/store/postgres/connection.hpp"

#include <chrono>
#include <optional>

namespace pawl::postgres {

// Reports settings under which a commit may be lost in a crash. nullopt: none, or no answer, after
// which the connection may be unusable.
std::optional<base::Warning> check_durability(
    Connection& connection, std::chrono::milliseconds longest
);

}  // namespace pawl::postgres
