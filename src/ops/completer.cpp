#include "src/ops/completer.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/blocking_wait.hpp"
#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/call_rule.hpp"
#include "src/core/claim_rule.hpp"
#include "src/core/completer_cap.hpp"
#include "src/engine/attention_log.hpp"
#include "src/engine/timeline.hpp"
#include "src/ops/stranded.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <future>

namespace pawl::ops {

using detail::execute_statement;
using detail::read_rows;
using detail::Row;
using detail::run_statement;

namespace {

// After all transactions of the attempt.
constexpr int part_of_cap = 1'000'000;
constexpr int defects_max = 1'000;  // Keys of a transaction.
constexpr int stuck_from = 3;       // Failed runs: the first ones may be a short outage.
constexpr std::string_view failed_too_often = "failed-too-often";
// A server of another release may decode the key, and must not wait long for it.
constexpr std::chrono::milliseconds stranded_wait{10s};
constexpr std::chrono::milliseconds look_for_stranded_each{10s};

engine::Settlement::Kind kind_of(std::string_view word) {
    if (word == "happened") return engine::Settlement::Kind::happened;
    if (word == "did-not-happen") return engine::Settlement::Kind::did_not_happen;
    return engine::Settlement::Kind::give_up;
}

core::RunFailure run_failure(engine::Reason reason) {
    if (reason == engine::Reason::not_recorded) return core::RunFailure::not_recorded;
    return reason == engine::Reason::internal ? core::RunFailure::defect : core::RunFailure::outage;
}

engine::Settlement settlement_of(const Row& row) {
    auto text = [&](int column) {
        return row.is_null(column) ? std::string{} : std::string{row.text(column)};
    };
    store::DamagedRow values{row, "find_settlements"};
    return {
        .key_id = row.integer(0),
        .attempt = static_cast<int>(row.integer(1)),
        .recovery_point = text(2),
        .kind = kind_of(row.text(3)),
        .result_name = text(4),
        .result = text(5),
        .by = text(6),
        .decided_at = values.column<std::string>(7, "settled_at")};
}

// Starts all items, then waits for all: the calls of a round run in parallel.
template <class Items, class Start>
std::vector<engine::Answer> all_answers(const Items& items, Start start) {
    std::vector<std::promise<engine::Answer>> ended(items.size());
    std::vector<engine::Answer> answers;
    for (std::size_t i = 0; i < items.size(); ++i)
        start(items[i], [&promise = ended[i]](engine::Answer answer) {
            promise.set_value(std::move(answer));
        });
    answers.reserve(items.size());
    for (auto& promise : ended) answers.push_back(base::wait_for(promise.get_future()));
    return answers;
}

}  // namespace

std::optional<std::string> CompleterOptions::problem() const {
    if (grace < 0ms) return "completer.grace is negative";
    if (settle_after < 0ms || settle_after > 1h)
        return "completer.settle_after is " + std::to_string(settle_after.count()) +
               " ms: 0 to 1 h";
    if (every < 10ms)
        return "completer.every is " + std::to_string(every.count()) + " ms: at least 10 ms";
    if (batch_max < 1 || batch_max > 10'000)
        return "completer.batch_max is " + std::to_string(batch_max) + ": 1 to 10000";
    return std::nullopt;
}

Completer::Completer(engine::Engine& engine, CompleterOptions options)
    : engine_{engine}, options_{options} {}

CompleterReport Completer::run_once() {
    CompleterReport report;
    warn_of_stranded();
    retry_defects();
    settle_decided(report);
    complete_dropped(report);
    return report;
}

void Completer::warn_of_stranded() {
    const auto now = engine_.clock().steady();
    if (looked_for_stranded_at_ && now - *looked_for_stranded_at_ < look_for_stranded_each) return;
    looked_for_stranded_at_ = now;
    std::vector<StrandedPoint> points;
    store::read_now(engine_.store(), [&](store::Session& session) {
        points = stranded_points(session, engine_);
    });
    stranded_.take_ended(now);
    for (const auto& [operation, point, keys] : points)
        if (stranded_.pass({"stranded_keys", operation + '/' + point}, 1, now))
            log::warning(
                "stranded_keys",
                {{"code", "PAWL0007"}, {"operation", operation}, {"point", point}, {"keys", keys}}
            );
}

// This program, or the schema since the last start, may be the fix of what they failed at: they are
// tried at once. A key that waits for a provider keeps its back-off.
void Completer::retry_defects() {
    if (retried_defects_) return;
    const auto changed = store::write_now(engine_.store(), [&](store::Session& session) {
        execute_statement(session, sql::retry_settlements);
        return execute_statement(
            session,
            sql::retry_defects,
            session.now(),
            known_points(engine_, Steps::phases),
            defects_max
        );
    });
    retried_defects_ = changed < defects_max;
}

std::vector<std::int64_t> Completer::find_dropped() {
    return store::read_now(engine_.store(), [&](store::Session& session) {
        const auto now = session.now();
        return read_rows(
            session,
            sql::find_completable,
            detail::first_number,
            now - options_.grace,
            now,
            options_.batch_max,
            core::lease_bound(now, engine_.options().lease),
            now + engine_.options().completer_cap.wait_max,
            known_points(engine_)
        );
    });
}

bool Completer::has_work() {
    return !find_dropped().empty() || !find_decided().empty();
}

void Completer::complete_dropped(CompleterReport& report) {
    const auto ids = find_dropped();
    const auto answers = all_answers(ids, [&](std::int64_t id, engine::OnAnswer on_answer) {
        engine_.complete(id, std::move(on_answer));
    });
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (std::holds_alternative<engine::StoredResponse>(answers[i])) {
            ++report.completed;
            continue;
        }
        note_failure_or_log(ids[i], std::get<engine::Rejection>(answers[i]), report);
    }
}

// If one key's failure can't be noted, the others go on; if the store is away, the round fails. A
// row that does not decode (PAWL0022) fails in each round until people repair it: it is put off, so
// that it is tried, and logged, every two hours and not every second.
void Completer::note_failure_or_log(
    std::int64_t key_id, const engine::Rejection& refused, CompleterReport& report
) {
    try {
        note_failure(key_id, refused, report);
    } catch (const StoreError& error) {
        if (error.transient()) throw;
        log::limited_error(
            "completer_note_failed",
            {{"code", "PAWL0022"}, {"key_id", key_id}, {"detail", error.what()}}
        );
        run_round("completer", [&] {
            store::write_now(engine_.store(), [&](store::Session& session) {
                const auto next = session.now() + engine_.options().completer_cap.wait_max;
                execute_statement(session, sql::set_completer_next, key_id, next);
            });
        });
    }
}

// A round's calls may take long: the failure gets the time of its own note, not the round's.
void Completer::note_failure(
    std::int64_t key_id, const engine::Rejection& refused, CompleterReport& report
) {
    if (refused.reason == engine::Reason::in_progress ||
        refused.reason == engine::Reason::stopping ||
        refused.reason == engine::Reason::overloaded || refused.reason == engine::Reason::on_hold)
        return;
    if (refused.reason == engine::Reason::needs_attention) {
        ++report.to_person;
        return;
    }
    if (refused.reason == engine::Reason::stranded) {
        ++report.stranded;
        return put_off(key_id, refused);
    }
    if (refused.reason == engine::Reason::other_server) {
        ++report.left;
        return put_off(key_id, refused);
    }
    ++report.failed;
    std::optional<Failing> failing;
    store::write_now(engine_.store(), [&](store::Session& session) {
        failing = note_failed_run(session, key_id, refused);
    });
    if (!failing) return;
    if (failing->capped) {
        ++report.to_person;
        return engine::log_attention_added(
            {.key_id = key_id,
             .hash = failing->row.hash,
             .principal = failing->row.principal,
             .operation = failing->row.operation,
             .point = failing->row.recovery_point,
             .reason = failed_too_often,
             .detail = failing->error}
        );
    }
    const auto now = engine_.clock().steady();
    if (!stuck_.pass({"key_stuck", std::to_string(key_id)}, 1, now)) return;
    stuck_.take_ended(now);
    log::limited_warning(
        "key_stuck",
        {},
        {{"key_id", key_id},
         {"key_hash", engine::logged_hash(failing->row.hash)},
         {"operation", failing->row.operation},
         {"point", failing->row.recovery_point},
         {"runs", failing->runs},
         {"detail", failing->error}},
        log::burst_of_names
    );
}

// Its data do not decode here, or only another server can repeat its call. That is no failure of
// the request: it neither counts for the cap, nor delays the key in a server that can go on.
// Meanwhile such a one may have finished it.
void Completer::put_off(std::int64_t key_id, const engine::Rejection& refused) {
    std::optional<engine::KeyRow> row;
    store::write_now(engine_.store(), [&](store::Session& session) {
        const auto wait = core::scaled(stranded_wait, 1.0 - 0.5 * engine_.random().dice());
        const auto now = session.now();
        const auto put_off = execute_statement(session, sql::put_off_key, key_id, now + wait, now);
        row = put_off != 0 ? engine::find_key(session, key_id) : std::nullopt;
    });
    if (!row || row->expired) return;
    const auto now = engine_.clock().steady();
    const auto at = row->operation + '/' + row->recovery_point;
    if (refused.reason != engine::Reason::stranded) return log_left(*row, refused);
    if (!stranded_.pass({"key_stranded", at}, 1, now)) return;
    log::warning(
        "key_stranded",
        {{"code", "PAWL0007"},
         {"operation", row->operation},
         {"point", row->recovery_point},
         {"key_id", key_id},
         {"detail", refused.detail}}
    );
}

void Completer::log_left(const engine::KeyRow& row, const engine::Rejection& refused) {
    const auto at = row.operation + '/' + row.recovery_point;
    if (!left_.pass({"key_left", at}, 1, engine_.clock().steady())) return;
    log::warning(
        "key_left",
        {{"code", refused.code},
         {"operation", row.operation},
         {"point", row.recovery_point},
         {"key_id", row.id},
         {"detail", refused.detail}}
    );
}

// Puts off the next run, or puts the key on the attention list. nullopt: it has not failed
// often.
std::optional<Completer::Failing> Completer::note_failed_run(
    store::Session& session, std::int64_t key_id, const engine::Rejection& refused
) {
    const auto now = session.now();
    Failing failing;
    TimePoint first{now};
    run_statement(
        session,
        sql::note_completer_failure,
        [&](const Row& row) {
            failing.runs = static_cast<int>(row.integer(0));
            first = detail::time_of_text(row.text(1), "note_completer_failure", 1);
        },
        key_id,
        now,
        now
    );
    if (failing.runs == 0) return std::nullopt;  // The key was settled meanwhile.
    const auto next = core::decide_after_completer_failure(
        engine_.options().completer_cap,
        run_failure(refused.reason),
        failing.runs,
        first,
        now,
        engine_.random().dice()
    );
    const auto* again = std::get_if<core::TryAgainIn>(&next);
    if (again != nullptr)
        execute_statement(session, sql::set_completer_next, key_id, now + again->wait);
    if (again != nullptr && failing.runs < stuck_from) return std::nullopt;
    auto row = engine::find_key(session, key_id);
    if (!row || row->expired) return std::nullopt;
    failing.row = std::move(*row);
    failing.error =
        base::sanitized_error(base::with_earlier_call(refused.detail, failing.row.called_at));
    if (again == nullptr && !hand_to_person(session, failing)) return std::nullopt;
    failing.capped = again == nullptr;
    return failing;
}

// False: a client has taken the key over since this round began, and may well succeed.
bool Completer::hand_to_person(store::Session& session, const Failing& failing) {
    const auto& row = failing.row;
    const auto now = session.now();
    if (!core::lease_over(row.lease_until, now, engine_.options().lease)) return false;
    const auto moved = execute_statement(
        session, sql::to_attention, row.id, row.attempt, row.recovery_point, failing.error, now
    );
    if (moved == 0) return false;
    engine::write_events(
        session,
        row.id,
        row.attempt,
        part_of_cap,
        {{.at = now,
          .what = "attention",
          .by = "completer",
          .point = row.recovery_point,
          .result = std::string{failed_too_often},
          .detail = failing.error}}
    );
    execute_statement(
        session,
        sql::insert_attention,
        row.id,
        row.attempt,
        row.recovery_point,
        failed_too_often,
        failing.error,
        now
    );
    return true;
}

std::vector<engine::Settlement> Completer::find_decided() {
    return store::read_now(engine_.store(), [&](store::Session& session) {
        return read_rows(
            session,
            sql::find_settlements,
            settlement_of,
            options_.batch_max,
            session.now() - options_.settle_after,
            session.now() + core::clocks_differ_by
        );
    });
}

void Completer::settle_decided(CompleterReport& report) {
    const auto decided = find_decided();
    const auto answers =
        all_answers(decided, [&](const engine::Settlement& settlement, engine::OnAnswer on_answer) {
            engine_.settle(settlement, std::move(on_answer));
        });
    for (const auto& answer : answers) {
        const auto* refused = std::get_if<engine::Rejection>(&answer);
        if (refused == nullptr) ++report.settled;
        if (refused != nullptr && refused->reason == engine::Reason::internal)
            ++report.settling_failed;
    }
}

void Completer::run(const std::stop_token& stop) {
    const auto round = [this](TimePoint) {
        const auto report = run_once();
        if (report.completed + report.failed + report.to_person + report.settled +
                report.settling_failed >
            0)
            log::info(
                "completer",
                {{"completed", report.completed},
                 {"failed", report.failed},
                 {"to_person", report.to_person},
                 {"stranded", report.stranded},
                 {"left", report.left},
                 {"settled", report.settled},
                 {"settling_failed", report.settling_failed}}
            );
        return report.completed >= options_.batch_max;
    };
    rounds(stop, engine_.clock(), options_.every, "completer", round, &wake_);
}

}  // namespace pawl::ops
