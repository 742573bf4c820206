#pragma once

#include <pawl/service.hpp>

#include "src/engine/engine.hpp"
#include "src/ops/completer.hpp"
#include "src/ops/enqueuer.hpp"
#include "src/ops/lone_runs.hpp"
#include "src/ops/marker.hpp"
#include "src/ops/overdue_code.hpp"
#include "src/ops/pauses.hpp"
#include "src/ops/providers_down.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/scheduler.hpp"
#include "src/ops/servers.hpp"
#include "src/ops/settings_watch.hpp"
#include "src/ops/worker.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "src/queue/open.hpp"

#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pawl {

struct Service::Impl {
    Impl(Database& database, const ServiceOptions& given);
    ~Impl();

    void start();
    bool stop(std::chrono::milliseconds drain);
    bool wait_idle(std::chrono::milliseconds limit);
    void join();
    void take_last_steps(bool drained);
    base::RunningCode& running_code() { return engine.store().running_code(); }
    void end_previous_server_leases();
    void declare_queue_limits();
    void warn_of_a_short_drain() const;
    void check_queue();
    void on_staged();
    void wake_workers(int jobs);
    void work_queue(std::string_view name);
    void add_handler(const detail::KindOfJob& job, std::function<void(ops::Worker&)> handler);
    std::size_t jobs_in_flight();  // That workers of this server hold.
    ops::Worker& first_tries() { return *workers.front(); }

    Database& database;
    ServiceOptions options;
    engine::Engine engine;
    queue::OpenQueue queue;  // The default queue, and how others are opened.
    std::vector<std::unique_ptr<queue::Queue>> queues;  // The others.
    std::set<std::string, std::less<>> queue_names;
    std::vector<std::function<void(ops::Worker&)>> handlers;
    std::unique_ptr<queue::Jobs> jobs_of_queues;          // nullptr on Kafka.
    queue::EmbeddedDeadLetters dead_letters_of_database;  // Jobs that an external queue refused.
    // With an external queue: left from the embedded one.
    queue::EmbeddedJobs jobs_of_database{database.store()};
    ops::Pauses pauses;
    ops::Completer completer;
    ops::Reaper reaper;
    ops::Marker marker;
    ops::Enqueuer enqueuer;
    ops::Scheduler scheduler;
    ops::SettingsWatch settings{engine};
    ops::Servers servers;
    ops::ProvidersDown providers_down{engine};
    ops::LoneRuns lone_runs{engine.clock()};
    ops::OverdueCode overdue{running_code(), engine.clock()};
    // Of each queue, the default first: one for first tries, then one for each retry layer.
    std::vector<std::unique_ptr<ops::Worker>> workers;
    std::vector<std::jthread> threads;
    std::vector<std::jthread> rescuers;  // Keep what is in flight, so they stop last.
    std::future<void> last_steps;        // Of a stop.
    bool started{false};
    bool stopped{false};
};

}  // namespace pawl
