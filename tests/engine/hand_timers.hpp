#pragma once

#include "src/base/testing/still_clock.hpp"
#include "src/base/timers.hpp"

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

namespace pawl::engine {

// base::Timers fire only by the test.
class HandTimers final : public base::Timers {
public:
    void after(std::chrono::milliseconds wait, std::function<void()> f) override {
        due.push_back({wait, std::move(f)});
    }
    void stop() override {}
    // Fires all of one length, in their order.
    void pass(std::chrono::milliseconds wait) {
        for (auto& [length, f] : std::exchange(due, {}))
            if (length == wait)
                f();
            else
                due.push_back({length, std::move(f)});
    }
    std::vector<std::pair<std::chrono::milliseconds, std::function<void()>>> due;
};

}  // namespace pawl::engine
