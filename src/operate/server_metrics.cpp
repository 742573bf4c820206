#include "src/operate/server_metrics.hpp"

#include "src/base/log.hpp"
#include "src/base/url.hpp"
#include "src/operate/gauges.hpp"
#include "src/operate/process_metrics.hpp"
#include "src/ops/overdue_code.hpp"
#include "src/ops/round_log.hpp"
#include "src/ops/service_impl.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace pawl::operate {

namespace {

std::string scheme_of(const std::string& url) {
    return url.substr(0, url.find(':'));
}

void show_store(store::Store& store, Gauges& to) {
    const auto stats = store.stats();
    to.begin(
        "pawl_store_works_total",
        "Transactions that were asked for",
        prometheus::MetricType::Counter
    );
    to.add(double(stats.works));
    to.begin(
        "pawl_store_commits_total", "Commits that carried them out", prometheus::MetricType::Counter
    );
    to.add(double(stats.commits));
    to.set("pawl_store_waiting", "Transactions that wait for the database", double(stats.waiting));
    if (stats.connections_max == 0) return;
    to.set(
        "pawl_store_connections_busy",
        "Connections that run something",
        double(stats.connections_busy)
    );
    to.set("pawl_store_connections_max", "Connections of the pool", double(stats.connections_max));
}

void show_rounds(TimePoint started_at, Gauges& to) {
    const auto counts = ops::round_counts();
    to.begin("pawl_rounds_total", "Rounds of the services", prometheus::MetricType::Counter);
    for (const auto& one : counts) {
        to.add(double(one.done), {{"service", one.service}, {"result", "done"}});
        to.add(double(one.failed), {{"service", one.service}, {"result", "failed"}});
    }
    to.begin("pawl_last_round_timestamp_seconds", "The last round that did not fail, or the start");
    for (const auto& one : counts)
        to.add(seconds(one.last_done.value_or(started_at)), {{"service", one.service}});
}

// Each place has its series from the start, so that alerts see a change.
void show_overdue(const std::vector<base::RunningCode::Seen>& running, Gauges& to) {
    using Where = base::RunningCode::Where;
    std::map<Where, std::pair<int, std::chrono::duration<double>>> overdue{
        {Where::transaction, {}}, {Where::query, {}}, {Where::job, {}}, {Where::call, {}}};
    for (const auto& code : running) {
        if (!ops::is_overdue(code)) continue;
        auto& [count, longest] = overdue[code.where];
        ++count;
        longest = std::max<std::chrono::duration<double>>(longest, code.ran);
    }
    const auto label = [](Where where) {
        return Gauges::Labels{{"where", std::string{ops::name_of(where)}}};
    };
    to.begin("pawl_handlers_overdue", "Code of the application that runs beyond its limit");
    for (const auto& [where, found] : overdue) to.add(found.first, label(where));
    to.begin("pawl_handlers_overdue_seconds", "How long the longest of them has run");
    for (const auto& [where, found] : overdue) to.add(found.second.count(), label(where));
}

void show_spans(engine::SpanCounts spans, Gauges& to) {
    to.begin("pawl_trace_spans_total", "Spans that were recorded", prometheus::MetricType::Counter);
    to.add(double(spans.sent), {{"result", "sent"}});
    to.add(double(spans.dropped), {{"result", "dropped"}});
}

void show_log(Gauges& to) {
    to.begin("pawl_log_events_total", "Events of the log", prometheus::MetricType::Counter);
    for (const auto& one : log::event_counts())
        to.add(double(one.count), {{"event", one.event}, {"level", one.level}});
}

}  // namespace

std::vector<prometheus::MetricFamily> server_metrics(Service& service, const ServerFacts& facts) {
    auto& engine = service.engine();
    Gauges to;
    to.begin("pawl_build_info", "What this server is");
    to.add(
        1,
        {{"version", PAWL_VERSION},
         {"store", engine.store().serves_one_process() ? "sqlite" : "postgres"},
         {"queue", scheme_of(service.options().queue)}}
    );
    to.set("process_start_time_seconds", "When this process started", seconds(facts.started_at));
    show_process(to);
    to.set("pawl_ready", "Whether /readyz says 200", facts.ready ? 1 : 0);
    to.set("pawl_store_up", "Whether the database takes writes", facts.store_up ? 1 : 0);
    to.set(
        "pawl_calls_in_flight",
        "Foreign calls that run or wait for a thread",
        engine.calls().in_flight()
    );
    to.set("pawl_calls_max", "Threads for foreign calls", engine.options().calls_max);
    to.set("pawl_keys_in_flight", "Keys at work", double(engine.keys_in_flight()));
    if (facts.disk) {
        to.set(
            "pawl_disk_free_bytes",
            "Free space of the database's file system",
            double(facts.disk->free)
        );
        to.set("pawl_disk_size_bytes", "Its size", double(facts.disk->size));
    }
    show_store(engine.store(), to);
    show_overdue(engine.store().running_code().list(), to);
    show_log(to);
    show_rounds(facts.started_at, to);
    show_spans(engine.observer()->span_counts().value_or(engine::SpanCounts{}), to);
    return to.take();
}

}  // namespace pawl::operate
