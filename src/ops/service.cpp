#include <pawl/detail/rows.hpp>
#include <pawl/service.hpp>

#include "src/base/clock.hpp"
#include "src/base/log.hpp"
#include "src/base/log_file.hpp"
#include "src/base/random.hpp"
#include "src/base/thread_name.hpp"
#include "src/base/url.hpp"
#include "src/core/worker_shares.hpp"
#include "src/engine/engine.hpp"
#include "src/json/hash.hpp"
#include "src/ops/database_jobs.hpp"
#include "src/ops/rounds.hpp"
#include "src/ops/service_impl.hpp"
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
constexpr std::size_t layers_max = 20;

ServiceOptions checked(ServiceOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"pawl::ServiceOptions: " + *why};
    if (!options.secret_file.empty())
        log::warn_if_others_can_read("secret file", options.secret_file);
    return options;
}

engine::EngineOptions engine_options(const ServiceOptions& options) {
    return {
        .lease = options.lease,
        .keep = options.keep_keys,
        .phase_deadline = options.phase_deadline,
        .calls_max = options.calls_max,
        .staging =
            options.queue == embedded ? engine::Staging::as_job : engine::Staging::to_be_pushed};
}

queue::QueueSetting queue_setting(const ServiceOptions& options) {
    return {.url = options.queue, .retry_layers = options.retry_layers};
}

}  // namespace

std::optional<std::string> ServiceOptions::problem() const {
    auto ms = [](std::chrono::milliseconds d) { return std::to_string(d.count()) + " ms"; };
    if (lease < 100ms || lease > 1h) return "lease is " + ms(lease) + ": 100 ms to 1 h";
    if (phase_deadline < 10ms)
        return "phase_deadline is " + ms(phase_deadline) + ": at least 10 ms";
    if (phase_deadline * 3 > lease)
        return "phase_deadline is " + ms(phase_deadline) + ": at most a third of the lease, " +
               ms(lease / 3);
    if (call_timeout < 1ms || call_timeout > 1h)
        return "call_timeout is " + ms(call_timeout) + ": 1 ms to 1 h";
    if (drain && (*drain < 0ms || *drain > 2h)) return "drain is " + ms(*drain) + ": 0 to 2 h";
    if (keep_keys < 1h)
        return "keep_keys is " + std::to_string(keep_keys.count()) +
               " h: at least 1 h, or clients still retry";
    if (keep_keys > engine::longest_keep)
        return "keep_keys is " + std::to_string(keep_keys.count()) + " h: at most " +
               std::to_string(engine::longest_keep.count()) + " h, a hundred years";
    if (repeats_for < 0h || repeats_for > engine::longest_keep)
        return "repeats_for is " + std::to_string(repeats_for.count()) + " h: 0 to " +
               std::to_string(engine::longest_keep.count()) + " h, a hundred years";
    if (calls_max < 1 || calls_max > 10'000)
        return "calls_max is " + std::to_string(calls_max) + ": 1 to 10000";
    for (const auto wait : retry_layers)
        if (wait < 0ms || wait > engine::longest_keep)
            return "retry_layers has " + ms(wait) +
                   ": no wait is negative, or above a hundred years";
    if (retry_layers.size() > layers_max)
        return "retry_layers has " + std::to_string(retry_layers.size()) + " waits: at most " +
               std::to_string(layers_max);
    if (!retry_workers.empty() && retry_workers.size() != retry_layers.size())
        return "retry_workers has " + std::to_string(retry_workers.size()) +
               " numbers: one for each of the " + std::to_string(retry_layers.size()) +
               " retry_layers";
    for (const auto workers_of_one : retry_workers)
        if (workers_of_one < 1 || workers_of_one > 1'000)
            return "retry_workers has " + std::to_string(workers_of_one) + ": 1 to 1000";
    if (auto why = queue_setting(*this).problem()) return why;
    ops::WorkerOptions worker{.threads = workers, .lease = job_lease, .timeout = job_timeout};
    if (auto why = worker.problem()) return why;
    ops::ReaperOptions reaper{.keep_expired = keep_expired};
    if (auto why = reaper.problem()) return why;
    return ops::CompleterOptions{.grace = complete_after, .settle_after = settle_after}.problem();
}

std::vector<int> ServiceOptions::layer_workers() const {
    if (workers < 1 || retry_workers.empty())
        return core::workers_of_layers(workers, retry_layers.size());
    return retry_workers;
}

Service::Impl::Impl(Database& on, const ServiceOptions& given)
    : database{on},
      options{checked(given)},
      engine{
          {database.store(), base::system_clock(), base::system_random()},
          engine_options(options),
          engine::open_installation(
              database.store(), base::system_clock(), base::system_random(), options.secret_file
          )},
      queue{queue::open_queue(
          queue_setting(options), database.store(), base::system_clock(), log::warn
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
          {.claim = std::max<std::chrono::milliseconds>(options.job_lease, 1s)}} {
    add_workers();
    engine.on_staged([this] { on_staged(); });
    enqueuer.on_sent([this](int jobs) {
        for (int i = 0; i < std::min(jobs, options.workers); ++i) first_tries().wake();
    });
    database.jobs().serve(engine.options().staging, [this] { on_staged(); });
}

void Service::Impl::on_staged() {
    if (queue.pusher)
        enqueuer.wake();
    else
        first_tries().wake();
}

// A first try never waits for a retry: each retry layer has workers of its own.
void Service::Impl::add_workers() {
    ops::WorkerOptions of_all{
        .threads = options.workers,
        .lease = options.job_lease,
        .timeout = options.job_timeout,
        .phase_deadline = options.phase_deadline,
        .retry_layers = options.retry_layers};
    const auto layers = options.layer_workers();
    const auto add = [&](std::optional<int> failures_min, std::optional<int> failures_max, int n) {
        of_all.jobs = {.failures_min = failures_min, .failures_max = failures_max};
        of_all.threads = n;
        workers.push_back(std::make_unique<ops::Worker>(engine, *queue.queue, pauses, of_all));
    };
    add(std::nullopt, layers.empty() ? std::nullopt : std::optional{0}, options.workers);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto failures = static_cast<int>(i) + 1;
        // Jobs may have more failures than there are layers: the last one works them, too.
        const bool last = i + 1 == layers.size();
        add(failures, last ? std::nullopt : std::optional{failures}, layers[i]);
    }
}

// Only one server uses a SQLite file, so its predecessor is dead: all its leases end at once.
void Service::Impl::end_previous_server_leases() {
    const auto ended = store::write_now(engine.store(), [&](store::Session& session) {
        const auto now = session.now();
        const auto keys = execute_statement(session, sql::end_previous_server_leases, now);
        execute_statement(session, sql::release_previous_server_staged_jobs);
        return keys + execute_statement(session, sql::rescue_previous_server_jobs, now);
    });
    if (ended > 0) log::info("previous_server_leases_ended", {{"count", std::to_string(ended)}});
}

void Service::Impl::count_stranded() {
    store::read_now(engine.store(), [&](store::Session& session) {
        run_statement(session, sql::count_open_by_point, [&](const Row& row) {
            const auto* operation = engine.find(row.text(0));
            if (operation != nullptr && operation->step_from(row.text(1))) return;
            log::warning(
                "stranded_keys",
                {{"code", "PAWL0007"},
                 {"operation", std::string{row.text(0)}},
                 {"point", std::string{row.text(1)}},
                 {"keys", std::to_string(row.integer(2))}}
            );
        });
    });
}

void Service::Impl::warn_of_a_short_drain() const {
    const auto drain = options.drain_time();
    if (drain >= options.call_timeout) return;
    log::warning(
        "drain_too_short",
        {{"drain_ms", std::to_string(drain.count())},
         {"call_timeout_ms", std::to_string(options.call_timeout.count())},
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

void Service::Impl::start() {
    check_queue();
    marker.start();
    started = true;
    if (engine.store().serves_one_process()) end_previous_server_leases();
    count_stranded();
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
    run("pawl-completer", [this](const std::stop_token& stop) { completer.run(stop); });
    run("pawl-enqueuer", [this](const std::stop_token& stop) { enqueuer.run(stop); });
    run("pawl-marker", [this](const std::stop_token& stop) { marker.run(stop); });
    run("pawl-reaper", [this](const std::stop_token& stop) { reaper.run(stop); });
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
    stopped = true;
    for (auto& thread : threads) thread.request_stop();
    engine.refuse_new();
    for (const auto& worker : workers) worker->stop_claiming();
    const auto last = std::min<std::chrono::milliseconds>(drain / 5, 5s);
    bool drained = wait_idle(drain - last);
    engine.stop_calls();
    for (const auto& worker : workers) worker->stop_calls();
    drained = drained || wait_idle(last);
    if (started) ops::run_round("marker", [this] { marker.run_once(); });
    if (drained) join();
    return drained;
}

void Service::Impl::join() {
    threads.clear();
    rescuers.clear();
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
    for (const auto& worker : impl_->workers) worker->add(form);
}
void Service::add_job_operation(std::string_view kind, const detail::ErasedOperation& form) {
    for (const auto& worker : impl_->workers) worker->add(kind, form);
}
void Service::start() {
    (void)impl_->engine.installation().secret();  // Without the secret no request can be compared.
    impl_->start();
}
bool Service::stop(std::chrono::milliseconds drain) {
    return impl_->stop(drain);
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
