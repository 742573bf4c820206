#pragma once

#include "src/base/clock.hpp"
#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/ops/round_log.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

namespace pawl::ops {

// Runs and counts one round of a service; false if it failed, which is logged.
template <class Round>
bool run_round(const char* name, Round round) {
    try {
        round();
        count_done_round(name);
        return true;
    } catch (const std::exception& failed) {
        count_failed_round(name, failed);
        log::limited_warning(
            "service_round_failed",
            std::string{name} + ": " + base::error_kind(failed.what()),
            {{"service", name}, {"detail", failed.what()}}
        );
        return false;
    }
}

// Ends the wait of a service's loop early. From any thread; quick.
class Wake {
public:
    void wake() {
        {
            const std::lock_guard lock{mutex_};
            woken_ = true;
        }
        changed_.notify_one();
    }
    void wait(const std::stop_token& stop, std::chrono::milliseconds longest) {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, stop, longest, [this] { return woken_; });
        woken_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool woken_{false};
};

// The loop of a service: a round, then a wait, until the stop. `round` returns true if there is
// more to do at once; `wake` ends a wait early. An exception is logged; the next round comes after
// the usual wait.
template <class Round>
void rounds(
    const std::stop_token& stop,
    base::Clock& clock,
    std::chrono::milliseconds every,
    const char* name,
    Round round,
    Wake* wake = nullptr
) {
    Wake none;
    while (!stop.stop_requested()) {
        bool more = false;
        run_round(name, [&] { more = round(clock.now()); });
        log::report_repeated();
        if (!more) (wake == nullptr ? none : *wake).wait(stop, every);
    }
}

}  // namespace pawl::ops
