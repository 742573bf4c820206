#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_map>

namespace pawl::postgres {

// Whether works share a transaction now: not for a while after one broke up, longer the more often
// that happens, as with rows that all write; and never those of a kind that was slow. Not
// thread-safe.
class SharingRule {
public:
    using Moment = std::chrono::steady_clock::time_point;

    bool allows(const void* kind, Moment now);
    void broke_up(Moment now);
    void went_well();
    void was_slow(const void* kind, Moment now);

private:
    std::chrono::milliseconds pause_{0};
    Moment until_{};
    std::unordered_map<const void*, Moment> slow_;  // Until when.
};

}  // namespace pawl::postgres
