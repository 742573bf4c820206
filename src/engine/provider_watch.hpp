#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace pawl::engine {

enum class ProviderChange { none, down, up };

// Which providers, of those that no router chooses, answer no calls: for the log alone, no call is
// kept from them. Down is one whose calls failed so often in a row; the next answer says that it is
// up. Thread-safe.
class ProviderWatch {
public:
    static constexpr int failures_max =
        5;  // A busy provider fails once; retries are seconds apart.

    ProviderChange ended(std::string_view target, bool answered);
    bool any_failing() const { return any_; }  // Without the mutex.

private:
    static constexpr std::size_t known_max = 1'000;  // Failing ones; others are not watched.

    std::mutex mutex_;
    std::map<std::string, int, std::less<>> failures_;  // In a row; of a target without any: none.
    std::atomic<bool> any_{false};
};

}  // namespace pawl::engine
