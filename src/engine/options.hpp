#pragma once

#include "src/core/completer_cap.hpp"
#include "src/engine/staging.hpp"

#include <chrono>
#include <cstddef>

namespace pawl::engine {

using namespace std::chrono_literals;

// A later expiry would need a year of more than four digits.
inline constexpr std::chrono::hours longest_keep{876'000};

struct EngineOptions {
    std::chrono::milliseconds lease{30s};
    std::chrono::hours keep{72};  // A bug deployed on Friday can be fixed on Monday.
    std::chrono::milliseconds phase_deadline{5s};
    int calls_max{1'024};
    std::chrono::milliseconds call_timeout{30s};  // A call that runs longer is reported.
    core::CompleterCap completer_cap{};
    Staging staging{Staging::as_job};
    bool beside_servers{false};  // Of a tool: its settings may differ from those of the servers.
    // For keys that other processes hold (an operation's wait(max)).
    std::chrono::milliseconds poll_every{250};  // One query for all waiting keys.
    std::size_t waiting_max{1'000};             // Keys waited for; more get 409 at once.
};

}  // namespace pawl::engine
