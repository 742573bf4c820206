#pragma once

#include "src/core/backoff.hpp"

#include <chrono>

namespace pawl::engine {

using namespace std::chrono_literals;

struct EngineOptions {
    std::chrono::milliseconds lease{30s};
    std::chrono::hours keep{72};  // A bug deployed on Friday can be fixed on Monday.
    std::chrono::milliseconds phase_deadline{5s};
    int calls_max{1'024};
    core::CompleterCap completer_cap{};
};

}  // namespace pawl::engine
