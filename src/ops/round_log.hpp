#pragma once

#include "src/base/clock.hpp"

#include <cstdint>
#include <exception>
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
    // The last failure that repeats do not end, as of a statement that the database refuses.
    std::optional<TimePoint> defect_at{};
    std::string defect{};
};

// Counts the round of a service. Like the log, there is one count for the process. Thread-safe.
void count_done_round(const char* service);
void count_failed_round(const char* service, const std::exception& failed);
std::vector<RoundCount> round_counts();

}  // namespace pawl::ops
