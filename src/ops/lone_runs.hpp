#pragma once

#include "src/base/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pawl::ops {

// Lets one job run while no other job of this process does (core/death_rule.hpp). All workers of a
// service share it. Thread-safe.
class LoneRuns {
public:
    using Steady = std::chrono::steady_clock::time_point;

    // The clock outlives it.
    explicit LoneRuns(base::Clock& clock) : clock_{clock}, since_{clock.steady()} {}

    // How long this process has run jobs.
    std::chrono::milliseconds age() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - since_);
    }

    // A thread's permission to claim and run jobs beside others, as long as it lives.
    class Turn {
    public:
        explicit Turn(LoneRuns& of) : of_{of}, granted_{of.begin()} {}
        ~Turn() {
            if (granted_) of_.end(alone_);
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        // False: a job runs alone, or is about to.
        bool granted() const { return granted_; }
        enum class Alone { yes, another_is, others_run };
        // Waits for the end of the other turns, while no new one is granted. After `yes` nothing
        // else runs until the end of this turn. After a long run others have as much time.
        Alone run_alone(std::chrono::milliseconds limit) {
            const auto result = of_.wait_for_others(limit);
            alone_ = result == Alone::yes;
            return result;
        }

    private:
        LoneRuns& of_;
        bool granted_;
        bool alone_{false};
    };

private:
    bool begin();
    void end(bool alone);
    Turn::Alone wait_for_others(std::chrono::milliseconds limit);

    base::Clock& clock_;
    const Steady since_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int turns_{0};
    bool lone_{false};  // One runs alone, or waits for that.
    Steady began_{};
    Steady others_until_{};  // Until then no other job begins to run alone.
};

}  // namespace pawl::ops
