#pragma once

#include <pawl/router.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::engine {

enum class ProviderChange { none, down, up };

// Which providers, of those that no router chooses, answer no calls: for people alone, no call is
// kept from them. Down is one whose calls failed so often in a row; the next answer says that it is
// up. Thread-safe.
class ProviderWatch {
public:
    static constexpr int failures_max =
        5;  // A busy provider fails once; retries are seconds apart.
    // One that is not called any more, as nothing waits for it, is not down for ever.
    static constexpr std::chrono::minutes forgotten_after{10};

    ProviderChange ended(
        std::string_view target, bool answered, TimePoint now = {}, std::string_view error = {}
    );
    bool any_failing() const { return any_; }  // Without the mutex.
    std::vector<ProviderHealth> down(TimePoint now);

private:
    static constexpr std::size_t known_max = 1'000;  // Failing ones; others are not watched.
    struct Failing {
        ProviderHealth health;
        TimePoint last{};
    };

    std::mutex mutex_;
    std::map<std::string, Failing, std::less<>> failing_;
    std::atomic<bool> any_{false};
};

}  // namespace pawl::engine
