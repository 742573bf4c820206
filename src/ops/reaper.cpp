#include "src/ops/reaper.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/base/log.hpp"
#include "src/core/fault.hpp"
#include "src/engine/key_row.hpp"
#include "src/engine/options.hpp"
#include "src/ops/bisect.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace pawl::ops {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

namespace {

// What remains of a key in the registry. The names are those in keys.sql.
struct Old {
    std::int64_t id{};
    std::optional<int> outcome;
    std::optional<std::string> location;
};
struct Batch {
    std::vector<Old> keys;
};

// Keys whose rows do not decode (PAWL0022). They stay, and do not hold up others.
struct Damaged {
    int count{};
    std::int64_t first_id{};
    std::string first_problem;
};

struct Found {
    Batch old;
    Damaged damaged;
};

void report(const Damaged& damaged) {
    if (damaged.count == 0) return;
    log::limited_error(
        "damaged_rows",
        {{"code", "PAWL0022"},
         {"key_id", damaged.first_id},
         {"detail", damaged.first_problem},
         {"count", damaged.count}}
    );
}

std::optional<std::string> location_of(std::string_view headers) {
    for (auto& header : engine::decode_headers(headers))
        if (header.name == "Location") return std::move(header.value);
    return std::nullopt;
}

// Sets `past` to the position of the last key found.
Found find_old(store::Session& session, TimePoint now, int limit, Reaper::Place& past) {
    Found found;
    Reaper::Place last = past;
    run_statement(
        session,
        sql::find_keys_to_expire,
        [&](const Row& row) {
            const auto id = row.integer(0);
            last = {std::string{row.text(3)}, id};
            store::DamagedRow values{row, "find_keys_to_expire"};
            const auto outcome = values.column<std::optional<int>>(1, "response_status");
            if (values.problem().empty()) {
                auto location = row.is_null(2) ? std::nullopt : location_of(row.text(2));
                found.old.keys.push_back({id, outcome, std::move(location)});
                return;
            }
            auto& damaged = found.damaged;
            if (damaged.count++ > 0) return;
            damaged.first_id = id;
            damaged.first_problem = values.problem();
        },
        now,
        limit,
        past.expires_at,
        past.id
    );
    past = std::move(last);
    return found;
}

// Rolls back if `remove` returns false, or if an application's constraint, such as a foreign key,
// forbids the removal.
template <class F>
bool all_or_nothing(store::Session& session, F remove) {
    session.savepoint();
    try {
        const bool removed = remove();
        if (removed)
            session.release();
        else
            session.roll_back_to();
        return removed;
    } catch (const StoreError& error) {
        if (error.kind() != StoreError::Kind::constraint) throw;
        session.roll_back_to();
        return false;
    }
}

void remove_notes(store::Session& session, std::string_view keys) {
    execute_statement(session, sql::delete_inquiries, keys);
    execute_statement(session, sql::delete_calls_not_made, keys);
    execute_statement(session, sql::delete_unrecorded_results, keys);
    execute_statement(session, sql::delete_key_events, keys);
}

bool remove(store::Session& session, const Old& old, TimePoint now) {
    return all_or_nothing(session, [&] {
        remove_notes(session, to_json(Batch{{old}}));
        execute_statement(session, sql::expire_key, old.id, old.outcome, old.location, now);
        return execute_statement(session, sql::delete_key, old.id) == 1;
    });
}

// All or none: four statements in all, instead of as many for each key.
bool remove_all(store::Session& session, std::span<const Old> some, TimePoint now) {
    if (some.size() == 1) return remove(session, some.front(), now);
    return all_or_nothing(session, [&] {
        const auto keys = to_json(Batch{{some.begin(), some.end()}});
        remove_notes(session, keys);
        execute_statement(session, sql::expire_keys, keys, now);
        const auto removed = execute_statement(session, sql::delete_keys, keys);
        return removed == static_cast<std::int64_t>(some.size());
    });
}

// With the references by which people find an expired key.
int forget_expired(store::Session& session, TimePoint before, int limit) {
    Batch forgotten;
    run_statement(
        session,
        sql::delete_tombstones,
        [&](const Row& row) {
            forgotten.keys.push_back({row.integer(0), {}, {}});
        },
        before,
        limit
    );
    if (!forgotten.keys.empty())
        execute_statement(session, sql::delete_key_references, to_json(forgotten));
    return static_cast<int>(forgotten.keys.size());
}

}  // namespace

std::optional<std::string> ReaperOptions::problem() const {
    if (every < 10ms)
        return "reaper.every is " + std::to_string(every.count()) + " ms: at least 10 ms";
    if (keep_expired < 24h)
        return "reaper.keep_expired is " + std::to_string(keep_expired.count()) +
               " h: at least 24 h, clients still retry";
    if (keep_expired > engine::longest_keep)
        return "reaper.keep_expired is " + std::to_string(keep_expired.count()) + " h: at most " +
               std::to_string(engine::longest_keep.count()) + " h, a hundred years";
    if (batch_max < 1 || batch_max > 10'000)
        return "reaper.batch_max is " + std::to_string(batch_max) + ": 1 to 10000";
    return std::nullopt;
}

Reaper::Reaper(store::Store& store, base::Clock& clock, ReaperOptions options)
    : store_{store}, clock_{clock}, options_{options} {}

ReaperReport Reaper::run_once(TimePoint now, const std::stop_token& stop) {
    PAWL_FAULT("reaper.round.before");
    ReaperReport done;
    // Skips keys that can't be removed, so that they don't hold up the others.
    Place past;
    bool more = true;
    while (more && done.reaped < options_.batch_max && !stop.stop_requested())
        more = reap(done, past, now);
    if (stop.stop_requested()) return done;
    store::write_now(store_, [&](store::Session& session) {
        done.forgotten = forget_expired(session, now - options_.keep_expired, options_.batch_max);
        done.done_forgotten = static_cast<int>(execute_statement(
            session, sql::delete_old_inbox_rows, now - options_.keep_done, options_.batch_max
        ));
        done.windows_forgotten = static_cast<int>(
            execute_statement(session, sql::delete_ended_windows, now, options_.batch_max)
        );
    });
    PAWL_FAULT("reaper.round.after");
    return done;
}

// One transaction; returns whether there may be more. The registry row and the key change together:
// a late repeat finds one or the other, never neither (F6).
bool Reaper::reap(ReaperReport& done, Place& past, TimePoint now) {
    struct Reaped {
        Bisected keys;
        Damaged damaged;
        Place past;
    };
    const auto reaped = store::write_now(store_, [&](store::Session& session) {
        Reaped seen{{}, {}, past};
        const auto found = find_old(session, now, options_.batch_max, seen.past);
        auto remove = [&](std::span<const Old> some) { return remove_all(session, some, now); };
        seen.keys = bisect(std::span<const Old>{found.old.keys}, remove);
        seen.damaged = found.damaged;
        return seen;
    });
    past = reaped.past;
    report(reaped.damaged);
    const int left = reaped.keys.left + reaped.damaged.count;
    done.reaped += reaped.keys.removed;
    done.not_removed += left;
    return reaped.keys.removed + left == options_.batch_max;
}

void Reaper::run(const std::stop_token& stop) {
    rounds(stop, clock_, options_.every, "reaper", [this, &stop](TimePoint now) {
        const auto report = run_once(now, stop);
        if (report.reaped + report.forgotten + report.done_forgotten + report.windows_forgotten +
                report.not_removed >
            0)
            log::info(
                "reaper",
                {{"reaped", report.reaped},
                 {"forgotten", report.forgotten},
                 {"done_forgotten", report.done_forgotten},
                 {"windows_forgotten", report.windows_forgotten},
                 {"not_removed", report.not_removed}}
            );
        return std::max({report.reaped, report.done_forgotten, report.windows_forgotten}) >=
               options_.batch_max;
    });
}

}  // namespace pawl::ops
