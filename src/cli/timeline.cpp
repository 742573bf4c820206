#include "src/cli/timeline.hpp"

#include <pawl/json.hpp>

#include "src/base/time_text.hpp"
#include "src/cli/read_rows.hpp"
#include "src/core/trace_context.hpp"
#include "src/engine/timeline.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

struct EventLine {
    int attempt{};
    std::string at;
    std::int64_t after_ms{};  // Since the line before: a gap is where nobody worked on the key.
    std::string what;
    Text by;
    Text point;
    Text to;
    Text result;
    std::optional<int> status;
    Text request_id;
    Text took_ms;
    Text detail;
    Text trace_id;  // Of what begins an attempt in a trace.
};

struct StoredEvents {
    int attempt{};
    std::string events;
};

// Milliseconds with three decimals.
Text took_ms(const std::optional<std::int64_t>& us) {
    if (!us) return std::nullopt;
    auto decimals = std::to_string(1'000 + *us % 1'000);
    return std::to_string(*us / 1'000) + '.' + decimals.substr(1);
}

Text trace_id_of(const engine::TimelineEvent& event) {
    const auto trace = event.trace ? core::TraceContext::from_text(*event.trace) : std::nullopt;
    return trace ? Text{std::string{trace->trace_id()}} : std::nullopt;
}

class Lines {
public:
    void add(int attempt, const engine::TimelineEvent& event) {
        const auto gap = last_ ? event.at - *last_ : std::chrono::milliseconds{0};
        last_ = event.at;
        found_.push_back(
            {{attempt,
              base::time_text(event.at),
              gap.count(),
              event.what,
              event.by,
              event.point,
              event.to,
              event.result,
              event.status,
              event.request_id,
              took_ms(event.took_us),
              event.detail,
              trace_id_of(event)},
             {}}
        );
    }
    void add(Line<EventLine> line) { found_.push_back(std::move(line)); }
    const std::vector<Line<EventLine>>& found() const { return found_; }

private:
    std::vector<Line<EventLine>> found_;
    std::optional<TimePoint> last_;
};

// Of the row: what its last attempt has not written yet.
engine::TimelineEvent state_of(const engine::KeyRow& row, TimePoint now) {
    engine::TimelineEvent event{.at = now, .what = "now", .point = row.recovery_point};
    event.result = row.status == core::KeyStatus::attention    ? "waits for a person"
                   : row.lease_until && *row.lease_until > now ? "at work"
                   : row.held                                  ? "is held"
                                                               : "waits for the next attempt";
    if (row.lease_until) event.detail = "lease until " + base::time_text(*row.lease_until);
    if (row.called_at)
        event.detail = (event.detail ? *event.detail + "; " : std::string{}) +
                       "a call was begun at " + base::time_text(*row.called_at);
    event.to = row.call_target;
    return event;
}

using AttemptEvent = std::pair<int, engine::TimelineEvent>;

// By attempt and time: what people did beside an attempt is stored after its own events. The rows
// that do not decode (PAWL0022) come last.
Lines events_of(Service& service, std::int64_t id) {
    std::vector<AttemptEvent> found;
    std::vector<Line<EventLine>> damaged;
    for (auto& [stored, damage] : read<StoredEvents>(service, sql::list_key_events, id)) {
        auto decoded = from_json<engine::TimelineEvents>(stored.events, Unknown::ignored);
        if (decoded && damage.problem.empty()) {
            for (auto& event : decoded->events)
                found.emplace_back(stored.attempt, std::move(event));
            continue;
        }
        if (damage.problem.empty()) damage.problem = "its events do not decode";
        damage.columns.insert(damage.columns.end(), {"at", "after_ms", "what"});
        damaged.push_back({{}, std::move(damage)});
        damaged.back().row.attempt = stored.attempt;
    }
    std::ranges::stable_sort(found, {}, [](const AttemptEvent& event) {
        return std::pair{event.first, event.second.at};
    });
    Lines lines;
    for (const auto& [attempt, event] : found) lines.add(attempt, event);
    for (auto& line : damaged) lines.add(std::move(line));
    return lines;
}

}  // namespace

void show_timeline(Service& service, const KeySelector& which, bool json, std::ostream& out) {
    const auto id = id_of(service, which);
    std::optional<engine::KeyRow> row;
    TimePoint now;
    store::read_now(service.engine().store(), [&](store::Session& session) {
        row = engine::find_key(session, id);
        now = session.now();
    });
    if (!row) no_such_key(id);
    if (row->expired) throw CommandFailed{name_of(id) + " has expired, and its time line with it"};
    auto lines = events_of(service, id);
    if (row->status != core::KeyStatus::finished) lines.add(row->attempt, state_of(*row, now));
    print_rows(
        out,
        lines.found(),
        json,
        "There are no events: the key is older than its time line (migration 0008)."
    );
}

}  // namespace pawl::cli
