#include <pawl/detail/rows.hpp>
#include <pawl/service.hpp>

#include "src/base/clock.hpp"
#include "src/base/log.hpp"
#include "src/base/log_file.hpp"
#include "src/base/random.hpp"
#include "src/base/thread_name.hpp"
#include "src/base/url.hpp"
#include "src/engine/engine.hpp"
#include "src/json/hash.hpp"
#include "src/ops/database_jobs.hpp"
#include "src/ops/overdue_code.hpp"
#include "src/ops/rounds.hpp"
#include "src/ops/service_impl.hpp"
#include "src/ops/service_options.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl {

namespace {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

constexpr std::string_view embedded = "embedded";
constexpr std::chrono::seconds last_steps_min{1};  // Of a stop: two short writes.

ServiceOptions checked(ServiceOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"pawl::ServiceOptions: " + *why};
    if (!options.secret_file.empty())
        log::warn_if_others_can_read("secret file", options.secret_file);
    return options;
}

engine::EngineOptions engine_options(const ServiceOptions& options, Database::As as) {
    return {
        .lease = options.lease,
        .keep = options.keep_keys,
        .phase_deadline = options.phase_deadline,
        .calls_max = options.calls_max,
        .call_timeout = options.call_timeout,
        .staging =
            options.queue == embedded ? engine::Staging::as_job : engine::Staging::to_be_pushed,
        .beside_servers = as == Database::As::tool};
}

engine::Installation installation_of(Database& database, const std::string& secret_file) {
    auto& store = database.store();
    // A tool records no secret: its file may be a wrong one.
    if (database.opened_as() == Database::As::inspection ||
        database.opened_as() == Database::As::tool)
        return engine::inspect_installation(store, secret_file);
    return engine::open_installation(
        store, base::system_clock(), base::system_random(), secret_file
    );
}

}  // namespace

Service::Impl::Impl(Database& on, const ServiceOptions& given)
    : database{on},
      options{checked(given)},
      engine{
          {database.store(), base::system_clock(), base::system_random()},
          engine_options(options, database.opened_as()),
          installation_of(database, options.secret_file)},
      queue{queue::open_queue(
          ops::queue_setting(options, default_queue),
          database.store(),
          base::system_clock(),
          log::warn
      )},
      dead_letters_of_database{database.store()},
      pauses{database.store(), base::system_clock()},
      completer{
          engine,
          {.grace = options.complete_after,
           .every = std::clamp<std::chrono::milliseconds>(options.complete_after / 5, 20ms, 1s),
           .settle_after = options.settle_after}},
      reaper{database.store(), base::system_clock(), {.keep_expired = options.keep_expired}},
      marker{
          engine,
          {.file = options.mark_file.empty() ? database.mark_file() : options.mark_file,
           .repeats_for = options.repeats_for == 0h ? options.keep_keys : options.repeats_for}},
      enqueuer{
          database.store(),
          base::system_clock(),
          queue.pusher.get(),
          // A dead server may hold a job for this long.
          {.claim = std::max<std::chrono::milliseconds>(options.job_lease, 1s)}},
      scheduler{engine, [this] { on_staged(); }},
      servers{
          database.store(),
          base::system_clock(),
          {.complete_after = options.complete_after, .version = PAWL_VERSION}} {
    for (auto& [name, value] : ops::settings_of(options)) settings.add(name, value);
    work_queue(default_queue);
    for (const auto& one : options.queues) work_queue(one.name);
    if (queue.jobs) jobs_of_queues = queue.jobs(queue_names);
    engine.on_staged([this] { on_staged(); });
    enqueuer.on_sent([this](int jobs) { wake_workers(jobs); });
    servers.on_ended([this](const ops::EndedServer& ended) {
        if (ended.keys > 0) completer.wake();
        if (ended.staged_jobs > 0) enqueuer.wake();
        wake_workers(static_cast<int>(std::min<std::int64_t>(ended.jobs, ops::workers_max)));
    });
    database.jobs().serve(engine.options().staging, [this] { on_staged(); });
}

void Service::Impl::on_staged() {
    if (queue.pusher)
        enqueuer.wake();
    else
        wake_workers(1);
}

// Of first tries in each queue: which one the jobs are in is not known here.
void Service::Impl::wake_workers(int jobs) {
    for (const auto& worker : workers) {
        if (worker->options().jobs.failures_min) continue;
        for (int i = 0; i < std::min(jobs, worker->options().threads); ++i) worker->wake();
    }
}

// A first try never waits for a retry: each retry layer has workers of its own.
void Service::Impl::work_queue(std::string_view name) {
    if (!queue_names.insert(std::string{name}).second) return;
    const auto of_it = options.queue_options(name);
    auto* on = queue.queue.get();
    if (name != default_queue)
        on = queues.emplace_back(queue.another(ops::queue_setting(options, name))).get();
    ops::WorkerOptions of_all{
        .queue = of_it.name,
        .threads = of_it.workers,
        .limited = ops::limits_of(of_it).any(),
        .lease = options.job_lease,
        .timeout = options.job_timeout,
        .phase_deadline = options.phase_deadline,
        .retry_layers = of_it.retry_layers};
    const auto layers = of_it.layer_workers();
    const auto add = [&](std::optional<int> failures_min, std::optional<int> failures_max, int n) {
        of_all.jobs = {.failures_min = failures_min, .failures_max = failures_max};
        of_all.threads = n;
        workers.push_back(std::make_unique<ops::Worker>(engine, *on, pauses, of_all, &lone_runs));
        for (const auto& handler : handlers) handler(*workers.back());
    };
    add(std::nullopt, layers.empty() ? std::nullopt : std::optional{0}, of_it.workers);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto failures = static_cast<int>(i) + 1;
        // Jobs may have more failures than there are layers: the last one works them, too.
        const bool last = i + 1 == layers.size();
        add(failures, last ? std::nullopt : std::optional{failures}, layers[i]);
    }
}

// All workers get it: jobs that were staged before their kind had this queue are in another one.
void Service::Impl::add_handler(
    const detail::KindOfJob& job, std::function<void(ops::Worker&)> handler
) {
    if (job.priority != 1 && options.queue != embedded)
        throw std::invalid_argument{
            "pawl: jobs of kind '" + std::string{job.kind} + "' have priority " +
            std::to_string(job.priority) +
            ": only the embedded queue has priorities; use a queue of their own"};
    if (!job.has_partition && options.queue_options(job.queue).partition_max > 0)
        throw std::invalid_argument{
            "pawl: jobs of kind '" + std::string{job.kind} +
            "' need std::string partition() const: their queue has partition_max"};
    if (job.attempts.value_or(1) > 1 && options.queue_options(job.queue).retry_layers.empty())
        throw std::invalid_argument{
            "pawl: jobs of kind '" + std::string{job.kind} + "' have " +
            std::to_string(*job.attempts) + " attempts: their queue has no retry layers"};
    for (const auto& worker : workers) handler(*worker);
    handlers.push_back(std::move(handler));
    work_queue(job.queue);
}

// Only one server uses a SQLite file, so its predecessor is dead: all its leases end at once.
void Service::Impl::end_previous_server_leases() {
    const auto ended = store::write_now(engine.store(), [&](store::Session& session) {
        const auto now = session.now();
        const auto keys = execute_statement(
            session, sql::end_previous_server_leases, now, now - options.complete_after - 1ms
        );
        execute_statement(session, sql::release_previous_server_staged_jobs);
        execute_statement(session, sql::delete_all_servers);
        return keys + execute_statement(session, sql::rescue_previous_server_jobs, now);
    });
    if (ended > 0) log::info("previous_server_leases_ended", {{"count", ended}});
}

void Service::Impl::warn_of_a_short_drain() const {
    const auto drain = options.drain_time();
    if (!ops::drain_is_short(options)) return;
    log::warning(
        "drain_too_short",
        {{"drain_ms", drain.count()},
         {"call_timeout_ms", options.call_timeout.count()},
         {"detail", "at a stop, calls that take longer than the drain stay in doubt"}}
    );
}

// Requests need no queue: jobs stay staged until it is back. A queue that loses jobs is an error.
void Service::Impl::check_queue() {
    try {
        queue.check();
    } catch (const StoreError& error) {
        if (error.kind() == StoreError::Kind::refused) throw;
        log::warning(
            "queue_unreachable",
            {{"queue", base::without_password(options.queue)}, {"detail", error.what()}}
        );
    }
}

// What `queues list` shows, and what claims lock.
void Service::Impl::declare_queue_limits() {
    store::write_now(engine.store(), [&](store::Session& session) {
        for (const auto& name : queue_names) {
            const auto of_it = options.queue_options(name);
            if (ops::limits_of(of_it).any())
                execute_statement(
                    session,
                    sql::declare_queue_limits,
                    name,
                    of_it.running_max,
                    of_it.partition_max,
                    ops::text_of(of_it.rate)
                );
            else
                execute_statement(session, sql::delete_queue_limits, name);
        }
    });
}

void Service::Impl::start() {
    for (const auto& name : queue_names)
        settings.add("queue " + name, ops::text_of(options.queue_options(name)));
    settings.begin();
    check_queue();
    declare_queue_limits();
    marker.start();
    started = true;
    if (engine.store().serves_one_process()) end_previous_server_leases();
    servers.start();
    warn_of_a_short_drain();
    for (const auto& call : engine.calls_without_target())
        log::warning(
            "call_without_target",
            {{"call", call},
             {"detail",
              "without call_target() a restart with another provider may repeat it there"}}
        );
    auto thread_of = [](const char* name, auto f) {
        return std::jthread{[name, f](const std::stop_token& stop) {
            base::name_this_thread(name);
            f(stop);
        }};
    };
    auto run = [&](const char* name, auto f) { threads.push_back(thread_of(name, f)); };
    if (!engine.store().serves_one_process())
        rescuers.push_back(thread_of("pawl-servers", [this](const std::stop_token& stop) {
            servers.run(stop);
        }));
    rescuers.push_back(thread_of("pawl-overdue", [this](const std::stop_token& stop) {
        overdue.run(stop, [this] {
            for (const auto& worker : workers) worker->stop_overdue();
        });
    }));
    run("pawl-completer", [this](const std::stop_token& stop) { completer.run(stop); });
    run("pawl-enqueuer", [this](const std::stop_token& stop) { enqueuer.run(stop); });
    run("pawl-marker", [this](const std::stop_token& stop) { marker.run(stop); });
    run("pawl-providers", [this](const std::stop_token& stop) { providers_down.run(stop); });
    run("pawl-reaper", [this](const std::stop_token& stop) { reaper.run(stop); });
    run("pawl-settings", [this](const std::stop_token& stop) { settings.run(stop); });
    run("pawl-scheduler", [this](const std::stop_token& stop) { scheduler.run(stop); });
    for (const auto& worker : workers) {
        rescuers.push_back(thread_of("pawl-rescuer", [&on = *worker](const std::stop_token& stop) {
            on.run_rescuer(stop);
        }));
        for (int i = 0; i < worker->options().threads; ++i)
            run("pawl-worker", [&on = *worker](const std::stop_token& stop) { on.run(stop); });
    }
}

// Requests and jobs in flight may finish; their calls are asked to stop while there is still time
// to record their outcome.
bool Service::Impl::stop(std::chrono::milliseconds drain) {
    const auto until = engine.clock().steady() + drain;
    stopped = true;
    for (auto& thread : threads) thread.request_stop();
    engine.refuse_new();
    for (const auto& worker : workers) worker->stop_claiming();
    const auto last = std::min<std::chrono::milliseconds>(drain / 5, 5s);
    bool drained = wait_idle(drain - last);
    engine.stop_calls();
    for (const auto& worker : workers) worker->stop_calls();
    drained = drained || wait_idle(last);
    // On a thread of its own: each step may wait for a thread that does not come back.
    if (!last_steps.valid() || last_steps.wait_for(0s) == std::future_status::ready)
        last_steps = std::async(std::launch::async, [this, drained] { take_last_steps(drained); });
    const auto limit = std::max(until, engine.clock().steady() + last_steps_min);
    const bool ended = last_steps.wait_until(limit) == std::future_status::ready;
    return drained && ended && std::ranges::none_of(running_code().list(), ops::is_overdue);
}

void Service::Impl::take_last_steps(bool drained) {
    base::name_this_thread("pawl-stop");
    if (started) ops::run_round("marker", [this] { marker.run_once(); });
    if (!drained) return;
    join();
    if (started) ops::run_round("servers", [this] { servers.leave(); });
}

void Service::Impl::join() {
    threads.clear();
    rescuers.clear();
}

std::size_t Service::Impl::jobs_in_flight() {
    std::size_t count = 0;
    for (const auto& worker : workers) count += worker->jobs_in_flight();
    return count;
}

bool Service::Impl::wait_idle(std::chrono::milliseconds limit) {
    const auto began = engine.clock().steady();
    const auto left = [&] {
        const auto spent = engine.clock().steady() - began;
        return std::max(limit - std::chrono::ceil<std::chrono::milliseconds>(spent), 0ms);
    };
    for (const auto& worker : workers)
        if (!worker->wait_idle(left())) return false;
    return engine.wait_idle(left());
}

// A call that outlasted the drain still returns, and notifies the worker of jobs that it staged:
// all members must live until the last call has ended.
Service::Impl::~Impl() {
    if (!stopped) stop(options.drain_time());
    database.jobs().leave();
    engine.stop_calls();
    for (const auto& worker : workers) worker->stop_calls();
    if (last_steps.valid()) last_steps.wait();
    join();
    engine.finish();
}

Service::Service(Database& database, const ServiceOptions& options)
    : impl_{std::make_unique<Impl>(database, options)} {}

Service::~Service() = default;

const detail::ErasedOperation& Service::add_operation(detail::ErasedOperation form) {
    return impl_->engine.add(std::move(form));
}
void Service::add_job(detail::ErasedJob form) {
    const auto settings = form.settings;
    impl_->add_handler(settings, [form = std::move(form)](ops::Worker& worker) {
        worker.add(form);
    });
}
void Service::add_job_operation(
    const detail::KindOfJob& settings, const detail::ErasedOperation& form
) {
    impl_->add_handler(settings, [=, &form](ops::Worker& worker) { worker.add(settings, form); });
}
void Service::add_periodic(
    std::string_view cron,
    const PeriodicOptions& options,
    std::string_view kind,
    std::function<void(Tx& tx, TimePoint tick)> stage
) {
    auto job = ops::periodic_job(cron, options, kind, std::move(stage));
    impl_->settings.add("schedule " + job.name, job.schedule);
    impl_->scheduler.add(std::move(job));
}
void Service::start() {
    impl_->start();
}
bool Service::stop(std::chrono::milliseconds drain) {
    return impl_->stop(drain);
}
std::vector<RunningHandler> Service::running_handlers() const {
    std::vector<RunningHandler> found;
    for (auto& code : impl_->running_code().list())
        found.push_back(
            {.where = std::string{ops::name_of(code.where)},
             .name = code.name,
             .step = code.step,
             .subject = ops::subject_of(code),
             .thread = code.thread,
             .ran = code.ran,
             .limit = code.limit}
        );
    return found;
}

void Service::add_setting(std::string name, std::string value) {
    impl_->settings.add_of_application(std::move(name), std::move(value));
}
void Service::add_secret_setting(std::string name, std::string_view secret) {
    impl_->settings.add_of_application(std::move(name), "digest " + ops::digest_of(secret));
}
const ServiceOptions& Service::options() const {
    return impl_->options;
}
std::string Service::secret_for(std::string_view purpose) const {
    const auto named = "application secret: " + std::string{purpose};
    return json::hex(json::hmac_sha256(impl_->engine.installation().secret(), named));
}
engine::Engine& Service::engine() {
    return impl_->engine;
}

}  // namespace pawl
