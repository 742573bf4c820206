#pragma once

#include "src/base/clock.hpp"
#include "src/base/log.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

namespace pawl::ops {

// Runs one round of a service; false if it failed, which is logged.
template <class Round>
bool run_round(const char* name, Round round) {
    try {
        round();
        return true;
    } catch (const std::exception& failed) {
        log::warning("service_round_failed", {{"service", name}, {"detail", failed.what()}});
        return false;
    }
}

// The loop of a service: a round, then a wait, until the stop. `round` returns true if there is
// more to do at once. An exception is logged; the next round comes after the usual wait.
template <class Round>
void rounds(
    const std::stop_token& stop,
    base::Clock& clock,
    std::chrono::milliseconds every,
    const char* name,
    Round round
) {
    std::mutex mutex;
    std::condition_variable_any wake;
    while (!stop.stop_requested()) {
        bool more = false;
        run_round(name, [&] { more = round(clock.now()); });
        if (more) continue;
        std::unique_lock lock{mutex};
        wake.wait_for(lock, stop, every, [] { return false; });
    }
}

}  // namespace pawl::ops
