#pragma once

#include "src/engine/answer.hpp"

#include <exception>
#include <string>

namespace pawl::engine {

// What an exception that left a transaction means to the client, and its text for operators.
struct Failure {
    bool passing{};  // Of the environment: nothing is recorded, the client tries again.
    Refused refusal;
};
Failure failure_of(const std::exception_ptr& failed);

}  // namespace pawl::engine
