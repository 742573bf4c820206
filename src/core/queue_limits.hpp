#pragma once

#include <chrono>
#include <cstdint>

// How many jobs a server may claim of a queue that has limits over all servers (docs/adr/0030).
namespace pawl::core {

using Microseconds = std::chrono::microseconds;

struct QueueLimits {
    int running_max{0};         // Jobs of the queue at once; 0: any number.
    int partition_max{0};       // Jobs of one partition at once; 0: any number, and no turns.
    Microseconds token_each{};  // The time in which a job may begin; 0: no rate.
    int burst{1};               // The most jobs that may begin at once after a quiet time.

    bool any() const noexcept {
        return running_max > 0 || partition_max > 0 || token_each.count() > 0;
    }
};

// The queue as the database shows it to a claim. Times are since 1970, by the database's clock.
struct QueueUse {
    std::int64_t running{0};
    std::int64_t retries_running{0};  // Of these.
    Microseconds full_at{};  // When the rate's token bucket is full again (core/quota.hpp).
};

struct ClaimRoom {
    int jobs{0};
    Microseconds more_in{};  // If `jobs` is 0 because of the rate: when a token comes.
};

// How many of the `asked` jobs the claim may take. Retries have at most half of running_max, at
// least one, so that first tries never wait for them.
ClaimRoom decide_claim_room(
    const QueueLimits& limits, const QueueUse& use, bool for_retries, int asked, Microseconds now
) noexcept;

// QueueUse::full_at after a claim of so many jobs. If it is earlier than before, it must be stored
// even if no job was claimed: the bucket would not fill up otherwise.
Microseconds full_at_after(
    const QueueLimits& limits, Microseconds full_at, int jobs, Microseconds now
) noexcept;

}  // namespace pawl::core
