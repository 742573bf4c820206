#include "src/cli/queues.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "src/cli/output.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/blocking.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

struct PauseOutcome {
    std::string queue;
    bool paused{};
    bool changed{};
};

using Lines = std::map<std::pair<std::string, std::string>, QueueLine>;  // By queue and place.

constexpr std::string_view database = "database";

QueueLine& line_of(Lines& lines, std::string_view queue, std::string_view where = database) {
    auto& line = lines[{std::string{queue}, std::string{where}}];
    line.queue = queue;
    line.where = where;
    if (where == database && !line.dead) line.dead = 0;
    return line;
}

// Where the service's workers get their jobs.
std::string_view place_of_work(Service& service) {
    const std::string_view queue = service.options().queue;
    if (queue.starts_with("redis")) return "redis";
    if (queue.starts_with("kafka")) return "kafka";
    return database;
}

// Returns why the external queue could not be queried; empty: it was.
std::string count_outside(Service& service, Lines& lines) {
    auto& outside = service.impl().queue;
    if (!outside.waiting) return {};
    try {
        for (const auto& found : outside.waiting(service.impl().queue_names)) {
            auto& line = line_of(lines, found.queue, place_of_work(service));
            line.ready = found.ready;
            line.running = found.running;
            line.later = found.later;
        }
    } catch (const StoreError& error) {
        return error.what();
    }
    return {};
}

void seen(QueueLine& line, const detail::Row& row, int column, std::string_view in) {
    store::DamagedRow values{row, in};
    const auto time = values.column<TimePoint>(column, "run_at");
    // "damaged" sorts after every time, so it is shown only if no time decodes.
    const auto at = values.problem().empty() ? base::time_text(time) : std::string{damaged};
    line.oldest = line.oldest ? std::min(*line.oldest, at) : at;
}

void count(Service& service, Lines& lines) {
    store::read_now(service.engine().store(), [&](store::Session& session) {
        detail::run_statement(session, sql::count_jobs, [&](const detail::Row& row) {
            auto& line = line_of(lines, row.text(0));
            const auto state = row.text(1);
            auto& jobs = state == "ready"      ? line.ready
                         : state == "retrying" ? line.retrying
                                               : line.running;
            jobs = row.integer(2);
            seen(line, row, 3, sql::count_jobs.name);
        });
        detail::run_statement(session, sql::count_dead_jobs, [&](const detail::Row& row) {
            line_of(lines, row.text(0)).dead = row.integer(1);
        });
        detail::run_statement(session, sql::count_staged_jobs, [&](const detail::Row& row) {
            auto& line = line_of(lines, row.text(0));
            line.staged = row.integer(1);
            seen(line, row, 2, sql::count_staged_jobs.name);
        });
        detail::run_statement(session, sql::list_queue_limits, [&](const detail::Row& row) {
            const auto limit = [&](int column) {
                const auto jobs = static_cast<int>(row.integer(column));
                return jobs == 0 ? std::nullopt : std::optional{jobs};
            };
            auto& line = line_of(lines, row.text(0), place_of_work(service));
            line.running_max = limit(1);
            line.partition_max = limit(2);
            if (!row.text(3).empty()) line.rate = row.text(3);
        });
    });
}

}  // namespace

QueueLines read_queues(Service& service) {
    Lines lines;
    count(service, lines);
    QueueLines found;
    found.not_asked = count_outside(service, lines);
    for (const auto& pause : service.impl().pauses.list()) {
        auto& line = line_of(lines, pause.queue, place_of_work(service));
        line.paused_since = pause.since ? base::time_text(*pause.since) : std::string{damaged};
        line.paused_by = pause.by;
        line.reason = pause.reason;
    }
    for (const auto& [name, line] : lines) found.rows.push_back(line);
    return found;
}

void list_queues(Service& service, bool json, std::ostream& out) {
    const auto found = read_queues(service);
    print_rows(out, found.rows, json, "No queue has a job or limits, and none is paused.");
    if (!found.not_asked.empty())
        throw CommandFailed{"the jobs of the external queue are not listed: " + found.not_asked};
}

namespace {

// Issue 16, number 21: a mistyped name was paused, and its queue went on.
void check_known(Service& service, const std::string& queue, std::string_view in_vain) {
    Lines lines;
    for (const auto& name : service.impl().queue_names) line_of(lines, name);
    count(service, lines);
    const auto not_asked = count_outside(service, lines);
    std::set<std::string> names;
    for (const auto& [name, line] : lines) names.insert(line.queue);
    for (const auto& pause : service.impl().pauses.list()) names.insert(pause.queue);
    if (names.contains(queue) || !not_asked.empty()) return;
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    throw CommandFailed{
        "there is no queue \"" + queue + "\": " + std::string{in_vain} + ". Known: " + known};
}

}  // namespace

void pause_queue(Service& service, const PauseRequest& act, bool json, std::ostream& out) {
    check_known(service, act.queue, "a pause would have no effect");
    const bool changed = service.impl().pauses.pause(act.queue, act.by, act.reason);
    print_row(out, PauseOutcome{act.queue, true, changed}, json);
}

void resume_queue(Service& service, const PauseRequest& act, bool json, std::ostream& out) {
    check_known(service, act.queue, "it is not paused");
    const bool changed = service.impl().pauses.resume(act.queue, act.by, act.reason);
    print_row(out, PauseOutcome{act.queue, false, changed}, json);
}

}  // namespace pawl::cli
