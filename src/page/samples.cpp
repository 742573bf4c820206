#include "src/page/samples.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace pawl::page {

std::vector<StoredSample> by_minute(std::span<const StoredSample> samples) {
    std::map<TimePoint, Sample> minutes;
    for (const auto& [at, one] : samples) {
        auto& sum = minutes[std::chrono::floor<std::chrono::minutes>(at)];
        sum.requests += one.requests;
        sum.failed += one.failed;
        sum.p95_ms = std::max(sum.p95_ms, one.p95_ms);
        sum.open = std::max(sum.open, one.open);
        sum.oldest_s = std::max(sum.oldest_s, one.oldest_s);
        sum.attention = std::max(sum.attention, one.attention);
        sum.jobs = std::max(sum.jobs, one.jobs);
        sum.dead = std::max(sum.dead, one.dead);
    }
    std::vector<StoredSample> found;
    for (const auto& [at, sample] : minutes) found.push_back({at, sample});
    return found;
}

}  // namespace pawl::page
