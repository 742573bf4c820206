#pragma once

#include <pawl/service.hpp>

#include "src/engine/engine.hpp"

#include <functional>
#include <string_view>

namespace pawl::ops {

// Service::run() of an operation that the engine has.
void run(
    engine::Engine& engine,
    const detail::ErasedOperation& operation,
    const Principal& principal,
    std::string_view key,
    detail::ErasedValue request,
    std::function<void(RunResult)> on_end
);

}  // namespace pawl::ops
