#pragma once

#include <pawl/service.hpp>
#include <pawl/tx.hpp>

#include "src/core/cron.hpp"
#include "src/engine/engine.hpp"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::ops {

struct PeriodicJob {
    std::string name;      // Of its row in pawl_schedules.
    std::string schedule;  // The cron expression and the time zone, as stored.
    core::Cron cron{};
    core::TimeZone zone{};
    bool skip_missed{};
    std::function<void(Tx& tx, TimePoint tick)> stage;
};

// Throws std::invalid_argument, naming the wrong part, for what Service::every() was given.
PeriodicJob periodic_job(
    std::string_view cron,
    const PeriodicOptions& options,
    std::string_view kind,
    std::function<void(Tx& tx, TimePoint tick)> stage
);

// Stages periodic jobs at their ticks. A tick's transaction moves the schedule's row to the next
// tick and stages the job, so that of all servers one does it. Times are the database's.
class Scheduler {
public:
    // The engine outlives it. `on_staged` is called after jobs were committed.
    Scheduler(engine::Engine& engine, std::function<void()> on_staged);

    // Before run(). Throws std::logic_error if the name is taken.
    void add(PeriodicJob job);
    // Stages what is due; returns how long the next tick is away, at most `look_again`. Throws
    // StoreError.
    std::chrono::milliseconds run_once();
    void run(const std::stop_token& stop);

private:
    // Throws StoreError; schedules that were declared before stay as they are.
    void declare();
    void run_tick(const PeriodicJob& job, TimePoint stored);

    engine::Engine& engine_;
    std::function<void()> on_staged_;
    std::vector<PeriodicJob> jobs_;
    bool declared_{false};
};

}  // namespace pawl::ops
