#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pawl::page {

// What a server counted in a minute, and what it found in the database at its end: a row of
// pawl_samples as JSON.
struct Sample {
    std::int64_t requests{};
    std::int64_t failed{};    // Of these: answered without the stored answer.
    std::int64_t p95_ms{};    // Of the requests' times; the upper bound of its bucket.
    std::int64_t open{};      // Keys that are not settled.
    std::int64_t oldest_s{};  // The age of the oldest of them.
    std::int64_t attention{};
    std::int64_t jobs{};
    std::int64_t dead{};
};

struct StoredSample {
    TimePoint at{};
    Sample sample{};
};

// One for each minute: what servers counted is added, of what each found in the database the
// largest counts.
std::vector<StoredSample> by_minute(std::span<const StoredSample> samples);

}  // namespace pawl::page
