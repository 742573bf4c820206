#include "src/ops/marker.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/base/time_text.hpp"
#include "src/core/assert.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <utility>

namespace pawl::ops {

namespace {

using detail::column_as;
using detail::execute_statement;
using detail::read_row;
using detail::Row;
using detail::run_statement;

core::Mark mark_of(const Row& row) {
    const auto& of = sql::find_mark.name;
    return {
        .number = column_as<std::int64_t>(row, 0, of),
        .at = column_as<TimePoint>(row, 1, of),
        .key_id = column_as<std::int64_t>(row, 2, of),
        .calls = column_as<std::int64_t>(row, 3, of)};
}

}  // namespace

int open_epoch(store::Session& session, const Restore& restore) {
    engine::Installation found;
    engine::read_epochs(session, found);
    const auto now = session.now();
    const int epoch = found.epoch + 1;
    execute_statement(
        session,
        sql::insert_epoch,
        epoch,
        now,
        restore.lost_since,
        restore.keys_until,
        restore.by,
        restore.detail
    );
    const auto forgotten = execute_statement(session, sql::forget_not_happened);
    execute_statement(
        session,
        sql::insert_audit,
        now,
        restore.by,
        "restored",
        std::optional<std::int64_t>{},
        "epoch " + std::to_string(epoch) + ", lost since " + base::time_text(restore.lost_since) +
            ", repeats until " + base::time_text(restore.keys_until) + ", " +
            std::to_string(forgotten) + " decisions did-not-happen dropped: " + restore.detail
    );
    return epoch;
}

Marker::Marker(engine::Engine& engine, MarkerOptions options)
    : engine_{engine}, options_{std::move(options)}, calls_marked_{engine.calls_begun()} {}

void Marker::start() {
    const std::lock_guard guard{mutex_};
    if (options_.file.empty()) return;
    outside_ = read_mark_file(options_.file);
    const auto& name = engine_.installation().name;
    if (outside_ && outside_->installation != name)
        throw std::runtime_error{
            "PAWL0017: the mark file " + options_.file +
            " is of another installation: the database that was served last is not this one, and "
            "what it had answered and called is unknown here; put the right database in place, or "
            "remove the mark file if this one is to begin anew"};
    auto found = read();
    notice(found);
    advance(found);
}

void Marker::run_once() {
    const std::lock_guard guard{mutex_};
    auto found = read();
    if (options_.file.empty()) return;
    notice(found);
    advance(found);
}

void Marker::run(const std::stop_token& stop) {
    rounds(stop, engine_.clock(), options_.every, "marker", [this](TimePoint) {
        run_once();
        return false;
    });
}

// The engine needs all epochs, even if this server keeps no mark.
Marker::Found Marker::read() {
    auto found = store::read_now(engine_.store(), [](store::Session& session) {
        Found read;
        engine::read_epochs(session, read.epochs);
        run_statement(session, sql::find_mark, [&](const Row& row) {
            read.mark = mark_of(row);
            read.highest_key =
                column_as<std::optional<std::int64_t>>(row, 4, sql::find_mark.name).value_or(0);
        });
        read.now = session.now();
        return read;
    });
    engine_.set_restore_gaps(found.epochs.lost);
    return found;
}

// If the newest epoch is newer than the file, the restore is already known. The log comes last: a
// person who sees it may rely on the engine, which once did not know the epoch yet.
void Marker::notice(Found& found) {
    if (!outside_ || found.epochs.epoch > outside_->epoch) return;
    const auto mark = found.mark.value_or(core::Mark{});
    if (!core::is_behind(mark, outside_->mark)) return;
    const Restore restore{
        .lost_since = mark.at,
        .keys_until = found.now + options_.repeats_for,
        .by = "server",
        .detail = "the mark " + std::to_string(outside_->mark.number) + " of " +
                  base::time_text(outside_->mark.at) + " is ahead of the database, at " +
                  std::to_string(mark.number) + " of " + base::time_text(mark.at)};
    const int epoch = store::write_now(engine_.store(), [&](store::Session& session) {
        return open_epoch(session, restore);
    });
    found = read();
    log::error(
        "database_restored",
        {{"code", "PAWL0017"},
         {"epoch", epoch},
         {"lost_since", base::time_text(restore.lost_since)},
         {"repeats_until", base::time_text(restore.keys_until)},
         {"detail", restore.detail}}
    );
}

// Writes the row first: the file must never be ahead of what is committed. A mark that another
// server has advanced is only copied, so that two idle servers do not write in turns.
void Marker::advance(const Found& found) {
    const auto calls = engine_.calls_begun() - calls_marked_;
    PAWL_ASSERT(calls >= 0);  // The mark only grows.
    if (found.mark && found.highest_key <= found.mark->key_id && calls == 0)
        return keep({engine_.installation().name, found.epochs.epoch, *found.mark});
    auto mark = store::write_now(engine_.store(), [&](store::Session& session) {
        return read_row(session, sql::advance_mark, mark_of, session.now(), calls)
            .value_or(core::Mark{});
    });
    calls_marked_ += calls;
    keep({engine_.installation().name, found.epochs.epoch, mark});
}

void Marker::keep(OutsideMark mark) {
    if (outside_ && outside_->epoch == mark.epoch && !core::is_behind(outside_->mark, mark.mark) &&
        !core::is_behind(mark.mark, outside_->mark))
        return;
    write_mark_file(options_.file, mark);
    outside_ = std::move(mark);
}

}  // namespace pawl::ops
