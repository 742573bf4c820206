#pragma once

#include "src/engine/answer.hpp"

#include <exception>
#include <string>

namespace pawl::engine {

// What an exception from a transaction means for the client, with a text for operators.
struct Failure {
    bool
        transient{};  // Caused by the environment: nothing is recorded, and the client tries again.
    Rejection rejection;
};
Failure failure_of(const std::exception_ptr& failed);

}  // namespace pawl::engine
