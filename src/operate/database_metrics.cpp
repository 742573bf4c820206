#include "src/operate/database_metrics.hpp"

#include <pawl/detail/rows.hpp>

#include "src/operate/gauges.hpp"
#include "src/operate/labelled.hpp"
#include "src/ops/rounds.hpp"
#include "src/ops/service_impl.hpp"
#include "src/ops/stranded.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace pawl::operate {

namespace {

using detail::Row;
using detail::run_statement;

// Of one statement; a call target may be any text, so there is a limit.
constexpr std::size_t providers_max = 50;
constexpr int errors_max = 1'000;  // Of unrecorded results, each with its own count.

double age(TimePoint now, std::optional<TimePoint> since) {
    if (!since) return 0;
    return std::max(std::chrono::duration<double>(now - *since).count(), 0.0);
}

struct Counts {
    std::int64_t count{};
    std::optional<TimePoint> oldest{};

    void add(std::int64_t more, std::optional<TimePoint> since) {
        count += more;
        if (since && (!oldest || *since < *oldest)) oldest = since;
    }
};

// What one snapshot says.
struct Found {
    TimePoint now;
    Counts open;
    std::int64_t stuck{};
    std::int64_t held{};
    std::vector<ops::StrandedPoint> stranded;
    Counts unrecorded_all;
    std::map<std::pair<std::string, std::string>, std::int64_t> unrecorded;  // Operation, point.
    std::map<std::string, Counts> attention;                                 // By reason.
    std::map<std::pair<std::string, std::string>, std::int64_t> jobs;        // By queue, state.
    std::map<std::string, Counts> due;                                       // By queue.
    std::map<std::string, std::int64_t> dead;                                // By queue.
    Counts staged;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> providers;  // Waiting, down at.
    std::int64_t servers{};
    std::vector<std::string> migrations;
};

std::optional<TimePoint> time_in(const Row& row, int column, std::string_view statement) {
    return detail::column_as<std::optional<TimePoint>>(row, column, statement);
}

void read_keys(store::Session& session, const engine::Engine& engine, Found& found) {
    run_statement(session, sql::summarise_open_keys, [&](const Row& row) {
        found.open = {row.integer(0), time_in(row, 1, sql::summarise_open_keys.name)};
        found.stuck = row.integer(2);
        found.held = row.integer(3);
    });
    found.stranded = ops::stranded_points(session, engine);
    const auto add_unrecorded = [&](const Row& row) {
        found.unrecorded[{std::string{row.text(1)}, std::string{row.text(2)}}] += row.integer(0);
        found.unrecorded_all.add(
            row.integer(0), time_in(row, 3, sql::count_unrecorded_results.name)
        );
    };
    run_statement(session, sql::count_unrecorded_results, add_unrecorded, errors_max);
    run_statement(session, sql::count_attention, [&](const Row& row) {
        found.attention[std::string{row.text(0)}].add(
            row.integer(1), time_in(row, 2, sql::count_attention.name)
        );
    });
}

void read_jobs(store::Session& session, Found& found) {
    run_statement(session, sql::count_jobs, [&](const Row& row) {
        const std::string queue{row.text(0)};
        const std::string state{row.text(1)};
        found.jobs[{queue, state}] += row.integer(2);
        if (state != "running") found.due[queue].add(0, time_in(row, 3, sql::count_jobs.name));
    });
    run_statement(session, sql::count_dead_jobs, [&](const Row& row) {
        found.dead[std::string{row.text(0)}] += row.integer(1);
    });
    run_statement(session, sql::count_staged_jobs, [&](const Row& row) {
        found.staged.add(row.integer(1), time_in(row, 2, sql::count_staged_jobs.name));
    });
}

void read_others(store::Session& session, Found& found) {
    run_statement(session, sql::list_providers, [&](const Row& row) {
        auto name = std::string{provider_label(row.text(0))};
        if (found.providers.size() >= providers_max && !found.providers.contains(name))
            name = "other";
        auto& [waiting, down_at] = found.providers[name];
        waiting += row.integer(1);
        down_at = std::max(down_at, row.integer(5));
    });
    run_statement(session, sql::list_servers, [&](const Row&) { ++found.servers; });
    run_statement(session, sql::list_migrations, [&](const Row& row) {
        found.migrations.push_back(std::string{row.text(0)} + '/' + std::string{row.text(1)});
    });
}

void show_keys(const Found& found, Gauges& to) {
    to.set("pawl_keys_open", "Keys that are not settled", double(found.open.count));
    to.set(
        "pawl_keys_oldest_open_seconds",
        "Age of the oldest key that is not settled and not held",
        age(found.now, found.open.oldest)
    );
    to.set(
        "pawl_keys_stuck",
        "Open keys that the completer has tried three times without success",
        double(found.stuck)
    );
    to.set("pawl_keys_held", "Open keys that operators hold", double(found.held));
    to.begin("pawl_keys_stranded", "Open keys at points that this server does not know");
    for (const auto& at : found.stranded)
        to.add(double(at.keys), {{"operation", at.operation}, {"point", at.point}});
    to.begin("pawl_results_unrecorded", "Results of calls at which their keepers fail");
    for (const auto& [at, count] : found.unrecorded)
        to.add(double(count), {{"operation", at.first}, {"point", at.second}});
    to.set(
        "pawl_results_unrecorded_oldest_seconds",
        "How long the oldest of them waits",
        age(found.now, found.unrecorded_all.oldest)
    );
    Counts all;
    to.begin("pawl_attention", "Keys that only a person can settle");
    for (const auto& [reason, counts] : found.attention) {
        to.add(double(counts.count), {{"reason", reason}});
        all.add(counts.count, counts.oldest);
    }
    to.set(
        "pawl_attention_oldest_seconds",
        "How long the oldest of them waits",
        age(found.now, all.oldest)
    );
}

void show_jobs(const Found& found, Gauges& to) {
    to.begin("pawl_jobs", "Jobs by queue and state");
    for (const auto& [of, count] : found.jobs)
        to.add(double(count), {{"queue", of.first}, {"state", of.second}});
    to.begin("pawl_jobs_oldest_due_seconds", "How long the oldest job is due");
    for (const auto& [queue, counts] : found.due)
        to.add(age(found.now, counts.oldest), {{"queue", queue}});
    to.begin("pawl_dead_jobs", "Dead letters");
    for (const auto& [queue, count] : found.dead) to.add(double(count), {{"queue", queue}});
    to.set(
        "pawl_staged_jobs",
        "Jobs that are not sent to the external queue yet",
        double(found.staged.count)
    );
    to.set(
        "pawl_staged_oldest_seconds",
        "How long the oldest of them is due",
        age(found.now, found.staged.oldest)
    );
}

void show_others(const Found& found, Gauges& to) {
    to.begin("pawl_provider_waiting_keys", "Keys whose call to the provider is not settled");
    for (const auto& [provider, counts] : found.providers)
        to.add(double(counts.first), {{"provider", provider}});
    to.begin("pawl_provider_down", "Servers that the provider does not answer");
    for (const auto& [provider, counts] : found.providers)
        to.add(double(counts.second), {{"provider", provider}});
    to.set("pawl_servers", "Servers of the database", double(found.servers));
    to.set(
        "pawl_database_read_timestamp_seconds",
        "When the metrics of the database were read",
        seconds(found.now)
    );
}

// The jobs and dead letters outside the database, if their queue can be asked.
void read_outside(Service::Impl& service, Found& found) {
    const auto& outside = service.queue;
    if (!outside.waiting) return;
    for (const auto& queue : outside.waiting(service.queue_names)) {
        found.jobs[{queue.queue, "ready"}] += queue.ready;
        found.jobs[{queue.queue, "running"}] += queue.running;
        found.jobs[{queue.queue, "retrying"}] += queue.later;
    }
    for (const auto& [queue, count] : outside.dead()) found.dead[queue] += count;
}

}  // namespace

void DatabaseMetrics::run_once() {
    auto& engine = service_.engine();
    Found found;
    store::read_now(engine.store(), [&](store::Session& session) {
        found = {};
        found.now = session.now();
        read_keys(session, engine, found);
        read_jobs(session, found);
        read_others(session, found);
    });
    ops::run_round("outside_queue", [&] { read_outside(service_.impl(), found); });
    Gauges gauges;
    show_keys(found, gauges);
    show_jobs(found, gauges);
    show_others(found, gauges);

    const std::lock_guard lock{mutex_};
    last_ = gauges.take();
    std::ranges::sort(found.migrations);
    if (migrations_.empty()) migrations_ = found.migrations;
    missing_.clear();
    std::ranges::set_difference(migrations_, found.migrations, std::back_inserter(missing_));
}

void DatabaseMetrics::run(const std::stop_token& stop) {
    auto& clock = service_.engine().clock();
    ops::Wake none;
    while (!stop.stop_requested()) {
        const auto began = clock.steady();
        ops::run_round("database_metrics", [this] { run_once(); });
        const auto took = std::chrono::ceil<std::chrono::milliseconds>(clock.steady() - began);
        none.wait(stop, std::clamp<std::chrono::milliseconds>(took * (share - 1), every, longest));
    }
}

std::vector<prometheus::MetricFamily> DatabaseMetrics::last() const {
    const std::lock_guard lock{mutex_};
    return last_;
}

std::vector<std::string> DatabaseMetrics::migrations_missing() const {
    const std::lock_guard lock{mutex_};
    return missing_;
}

}  // namespace pawl::operate
