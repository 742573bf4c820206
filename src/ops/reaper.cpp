#include "src/ops/reaper.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/fault.hpp"
#include "src/engine/key_row.hpp"
#include "src/engine/log.hpp"
#include "src/ops/rounds.hpp"
#include "store/statements.hpp"

#include <vector>

namespace pawl::ops {

using detail::Row;
using detail::run_statement;

namespace {

constexpr auto no_rows = [](const Row&) {};

struct Old {
    std::int64_t id{};
    std::optional<int> status;
    std::optional<std::string> location;
};

std::optional<std::string> location_of(std::string_view headers) {
    for (auto& header : engine::decode_headers(headers))
        if (header.name == "Location") return std::move(header.value);
    return std::nullopt;
}

std::vector<Old> find_old(store::Session& session, TimePoint now, int limit, int pass_over) {
    std::vector<Old> old;
    run_statement(
        session,
        sql::find_expired,
        [&](const Row& row) {
            old.push_back(
                {row.integer(0),
                 detail::column_as<std::optional<int>>(row, 1, "find_expired"),
                 row.is_null(2) ? std::nullopt : location_of(row.text(2))}
            );
        },
        now,
        limit,
        pass_over
    );
    return old;
}

// False if something of the application holds on to the row, such as a foreign key: then nothing is
// changed.
bool remove(store::Session& session, const Old& old, TimePoint now) {
    session.savepoint();
    try {
        run_statement(
            session, sql::expire_registry, no_rows, old.id, old.status, old.location, now
        );
        const bool removed = run_statement(session, sql::delete_key, no_rows, old.id) == 1;
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

}  // namespace

std::optional<std::string> ReaperOptions::problem() const {
    if (every < 10ms)
        return "reaper.every is " + std::to_string(every.count()) + " ms: at least 10 ms";
    if (keep_expired < 24h)
        return "reaper.keep_expired is " + std::to_string(keep_expired.count()) +
               " h: at least 24 h, clients still retry";
    if (batch_max < 1 || batch_max > 10'000)
        return "reaper.batch_max is " + std::to_string(batch_max) + ": 1 to 10000";
    return std::nullopt;
}

Reaper::Reaper(store::Store& store, core::Clock& clock, ReaperOptions options)
    : store_{store}, clock_{clock}, options_{options} {}

// The registry row and the key go in one transaction: a late repeat finds one or the other, never
// neither (F6).
ReaperReport Reaper::run_once(TimePoint now) {
    PAWL_FAULT("reaper.round.before");
    const auto report = store::write_now(store_, [&](store::Session& session) {
        ReaperReport done;
        // Past those that can't be removed, so that they don't hold up the others.
        std::vector<Old> batch;
        do {
            batch = find_old(session, now, options_.batch_max, done.not_removed);
            for (const auto& old : batch)
                ++(remove(session, old, now) ? done.reaped : done.not_removed);
        } while (done.reaped == 0 && !batch.empty());
        done.forgotten = static_cast<int>(run_statement(
            session, sql::forget_expired, no_rows, now - options_.keep_expired, options_.batch_max
        ));
        return done;
    });
    PAWL_FAULT("reaper.round.after");
    return report;
}

void Reaper::run(const std::stop_token& stop) {
    rounds(stop, clock_, options_.every, "reaper", [this](TimePoint now) {
        const auto report = run_once(now);
        if (report.reaped + report.forgotten + report.not_removed > 0)
            log::info(
                "reaper",
                {{"reaped", std::to_string(report.reaped)},
                 {"forgotten", std::to_string(report.forgotten)},
                 {"not_removed", std::to_string(report.not_removed)}}
            );
        return report.reaped >= options_.batch_max;
    });
}

}  // namespace pawl::ops
