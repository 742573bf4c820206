#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace rides {

// The keys of forms that were answered "in progress" a moment ago. The claim of such a booking may
// not be committed yet, so that its address would show the form again. Bounded. Thread-safe.
class SentForms {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds remembered_for{10};
    static constexpr std::size_t remembered_max = 1'000;

    void add(std::string_view key, SteadyTime now);
    bool has(std::string_view key, SteadyTime now) const;

private:
    struct Sent {
        std::string key;
        SteadyTime at;
    };
    mutable std::mutex mutex_;
    std::deque<Sent> sent_;  // The oldest first.
};

}  // namespace rides
