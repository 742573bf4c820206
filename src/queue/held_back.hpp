#pragma once

#include "src/queue/queue.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace pawl::queue {

// For how long a queue's limits hold back claims: of first tries, and of retries, as the latest
// claim or look knows it. See Queue::held_back_for(). Thread-safe.
class HeldBack {
public:
    void set(const ClaimFilter& filter, std::chrono::milliseconds wait) {  // 0: not.
        ms_.at(filter.retries_only() ? 1 : 0) = wait.count();
    }
    std::optional<std::chrono::milliseconds> get(const ClaimFilter& filter) const {
        const std::chrono::milliseconds wait{ms_.at(filter.retries_only() ? 1 : 0)};
        return wait.count() == 0 ? std::nullopt : std::optional{wait};
    }

private:
    std::array<std::atomic<std::int64_t>, 2> ms_{};
};

}  // namespace pawl::queue
