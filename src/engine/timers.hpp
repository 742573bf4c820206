#pragma once

#include "src/core/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace pawl::engine {

// Runs functions later, on one thread of its own; they are quick, they only hand on.
class Timers {
public:
    explicit Timers(core::Clock& clock);
    ~Timers();  // What has not run yet never does.

    void after(std::chrono::milliseconds wait, std::function<void()> f);
    void stop();

private:
    void loop();

    core::Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> due_;
    bool stopping_{false};
    std::thread thread_;
};

}  // namespace pawl::engine
