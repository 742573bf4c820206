#pragma once

#include "src/base/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace pawl::base {

// Runs functions later; they must be quick. A simulator brings its own.
class Timers {
public:
    virtual ~Timers() = default;
    virtual void after(std::chrono::milliseconds wait, std::function<void()> f) = 0;
    // Drops what has not run. When it returns, nothing runs any more.
    virtual void stop() = 0;
};

// Uses one thread of its own.
class TimerThread final : public Timers {
public:
    explicit TimerThread(Clock& clock);
    ~TimerThread() override;

    void after(std::chrono::milliseconds wait, std::function<void()> f) override;
    void stop() override;

private:
    void loop();

    Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> due_;
    bool stopping_{false};
    std::thread thread_;
};

}  // namespace pawl::base
