#pragma once

#include <chrono>
#include <unordered_map>

namespace pawl::store {

// Kinds of works about which a store learnt something lately: each is remembered for a minute after
// its last add(). At most 1,000. Not thread-safe.
class RecentKinds {
public:
    using Moment = std::chrono::steady_clock::time_point;

    bool has(const void* kind, Moment now);
    void add(const void* kind, Moment now);

private:
    std::unordered_map<const void*, Moment> until_;
};

}  // namespace pawl::store
