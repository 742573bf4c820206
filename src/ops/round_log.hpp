#pragma once

#include "src/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::ops {

// The rounds of one service of this process.
struct RoundCount {
    std::string service;
    std::int64_t done{};
    std::int64_t failed{};
    std::optional<TimePoint> last_done{};
};

// Counts the round of a service. Like the log, there is one count for the process. Thread-safe.
void count_round(const char* service, bool done);
std::vector<RoundCount> round_counts();

}  // namespace pawl::ops
