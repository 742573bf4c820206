#include "src/http/run_until_signal.hpp"

#include "src/base/log.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/ops/started_log.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace pawl {

namespace {

sigset_t end_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);  // By default it ends the process; here it only reopens the logs.
    return set;
}

// For `delay`, or until another signal.
void wait_before_stop(std::chrono::milliseconds delay) {
    const auto set = end_signals();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(delay);
    const timespec limit{
        seconds.count(), static_cast<long>(std::chrono::nanoseconds{delay - seconds}.count())};
    while (sigtimedwait(&set, nullptr, &limit) == -1 && errno == EINTR) continue;
}

// Whether the process must say so by its exit code: it ignores its stop. A foreign call can't
// always be given up, and a drain that is shorter than a call was warned of.
bool ignores_stop(const RunningHandler& left) {
    return left.where != "call" || left.ran > left.limit;
}

int log_handlers_left(const Service& service) {
    int count = 0;
    for (const auto& left : service.running_handlers()) {
        if (!ignores_stop(left)) continue;
        ++count;
        log::error(
            "handler_left",
            {{"code", "PAWL0031"},
             {"where", left.where},
             {"name", left.name},
             {"step", left.step},
             {"subject", left.subject},
             {"thread", left.thread},
             {"ran_ms", left.ran.count()},
             {"limit_ms", left.limit.count()}}
        );
    }
    return count;
}

}  // namespace

void block_end_signals() {
    const auto set = end_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int wait_for_end_signal(const std::function<void()>& on_hangup) {
    const auto set = end_signals();
    int signal = SIGHUP;
    while (signal == SIGHUP) {
        if (sigwait(&set, &signal) != 0) continue;
        if (signal == SIGHUP && on_hangup) on_hangup();
    }
    return signal;
}

int run_until_signal(Service& service, HttpServer& server) {
    return http::run_until_signal(service, server, {});
}

int http::run_until_signal(Service& service, HttpServer& server, const RunHooks& hooks) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);  // A core dump would contain tokens and bodies.
    std::signal(SIGPIPE, SIG_IGN);
    block_end_signals();
    auto& settings = service.impl().settings;
    settings.add("key_reused_status", std::to_string(server.options().key_reused_status));
    settings.add("body_max", std::to_string(server.options().limits.body_max));
    service.start();
    ops::log_started(service, server.options().listen, server.port());  // Before its first answer.
    server.start();
    if (hooks.on_started) hooks.on_started();
    const int signal = wait_for_end_signal([&server] { server.reopen_logs(); });
    log::info("stopping", {{"signal", signal}});
    if (hooks.on_signal) hooks.on_signal();
    if (hooks.pre_stop_delay.count() > 0) wait_before_stop(hooks.pre_stop_delay);
    // In parallel: the service asks calls to stop while the server still waits for their responses.
    const auto drain = service.options().drain_time();
    bool listener_ended = false;
    std::jthread server_stopper{[&] { listener_ended = server.stop(drain); }};
    const bool drained = service.stop(drain);
    server_stopper.join();
    if (!listener_ended)
        log::error(
            "io_thread_held",
            {{"detail", "a thread of the HTTP server has not ended; it is abandoned"}}
        );
    const int handlers_left = drained ? 0 : log_handlers_left(service);
    const auto calls = service.engine().in_flight_calls().report();
    const auto stats = service.engine().store().stats();
    log::report_repeated(log::Windows::all);
    log::info(
        "stopped",
        {{"keys_left", service.engine().keys_in_flight()},
         {"jobs_left", service.impl().jobs_in_flight()},
         {"handlers_left", handlers_left},
         {"in_doubt", calls.count},
         {"in_doubt_keys", calls.keys},
         {"works", stats.works},
         {"commits", stats.commits},
         {"largest_batch", stats.largest_batch}}
    );
    log::flush();
    // What still hangs is abandoned: its leases end by themselves, and others take it over.
    if (handlers_left > 0 || !listener_ended) std::_Exit(exit_code_handler_left);
    if (!drained) std::_Exit(0);
    return 0;
}

}  // namespace pawl
