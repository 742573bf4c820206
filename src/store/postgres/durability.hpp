#pragma once

#include "src/base/remark.hpp"
#include "src/store/postgres/connection.hpp"

#include <chrono>
#include <optional>

namespace pawl::postgres {

// Whether a commit outlives a crash there, as this connection finds the settings. Nothing if it
// does, or if there was no answer: then the connection may be of no use any more.
std::optional<base::Remark> look_at_durability(
    Connection& connection, std::chrono::milliseconds longest
);

}  // namespace pawl::postgres
