#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/fault.hpp"
#include "src/core/move.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/tx_factory.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

using detail::execute_statement;
using detail::fence_statement;

Attempt::Next Attempt::commit_keep(core::KeepExtent extent) {
    extent_ = extent;
    kept_mark_ = facts_.mark;
    PAWL_FAULT("engine.keep.before");
    return commit(&Attempt::run_keep, &Attempt::kept, &step());
}

Attempt::Outcome Attempt::run_keep(store::Session& session) {
    facts_.mark = kept_mark_;  // A run that was rolled back may have marked the next call.
    const auto began = engine_.clock().steady();
    auto context = tx_context(session);
    context.running.label.step = step().from;
    auto moved = detail::TxFactory::with_tx(context, [&](Tx& tx) {
        return step().keep(operation_->op.get(), tx, facts_.at.point.get(), *result_);
    });
    const auto took = engine_.clock().steady() - began;
    const auto result = step().results[result_->result].name;
    if (auto* by = engine_.observer())
        by->on_keep(
            {.operation = *operation_, .step = facts_.at.step, .under = trace(), .result = result},
            took
        );
    note("kept", {.result = std::string{result}, .took_us = microseconds(took)});
    if (result_was_stored_) execute_statement(session, sql::delete_unrecorded_result, facts_.id);
    PAWL_FAULT("engine.keep.inside");
    const auto* reached = std::get_if<detail::ReachedPoint>(&moved);
    if (extent_ == core::KeepExtent::keeper_alone && reached != nullptr &&
        !operation_->steps[reached->step].foreign)
        return stop_before_phases(session, *reached);
    auto outcome = advance(session, facts_.at.step, std::move(moved));
    move_row(session, outcome);
    return outcome;
}

Attempt::Outcome Attempt::stop_before_phases(
    store::Session& session, const detail::ReachedPoint& reached
) {
    core::check_move(facts_.at.step, reached.step, operation_->steps.size());
    const auto stored = std::string{operation_->steps[reached.step].from};
    Outcome outcome = Position{reached.step, reached.point, stored};
    note("released", {.point = stored, .detail = error_});
    move_row(session, outcome);
    fence_statement(
        session,
        sql::fail_attempt,
        facts_.id,
        facts_.number,
        stored,
        base::sanitized_error(error_),
        session.now()
    );
    return Rejection{.reason = Reason::internal, .detail = error_};
}

Attempt::Event Attempt::kept(Failed failed) {
    if (!failed) {
        PAWL_FAULT("engine.keep.after");
        result_was_stored_ = false;
        return committed();
    }
    facts_.mark = kept_mark_;
    if (is_fenced(failed)) return event_of_fence();
    const auto failure = event_of_failure(failed);
    const auto& cause = std::get<Rejection>(answer_);
    const auto text = "the result could not be kept: " + cause.detail;
    const auto event = core::attempt::event_of(core::decide_after_failed_keep(
        again(),
        failure == Event::transient ? core::KeepFailure::transient : core::KeepFailure::defect,
        extent_
    ));
    if (event == Event::try_again)
        refuse(cause.reason, base::with_earlier_call(text, earlier_call()));
    if (event == Event::keep_alone) error_ = cause.detail;
    if (event == Event::not_recorded) error_ = "PAWL0019: " + text;
    return event;
}

// The call is made, and nobody need decide anything: the key stays open, and each later attempt
// begins with this result instead of the call.
void Attempt::run_store_result(store::Session& session) {
    const auto now = session.now();
    const auto& form = step().results[result_->result];
    const auto error = base::sanitized_error(error_);
    note_inquiry(session);
    note_and_write(session, "released", {.result = std::string{form.name}, .detail = error_});
    fence(session, sql::fail_attempt, error, now);
    execute_statement(
        session,
        sql::store_unrecorded_result,
        facts_.id,
        facts_.generation,
        facts_.at.stored,
        form.name,
        form.encode(result_->value.get()),
        error,
        now
    );
}

Attempt::Event Attempt::result_stored(Failed failed) {
    if (is_fenced(failed)) return event_of_fence();
    if (failed) return event_of_failure(failed);
    refuse(Reason::not_recorded, error_);
    log::limited_warning(
        "result_stored",
        std::string{operation_->name} + ": " + base::error_kind(error_),
        {{"code", "PAWL0019"},
         {"key_id", facts_.id},
         {"operation", operation_->name},
         {"point", facts_.at.stored},
         {"result", step().results[result_->result].name},
         {"detail", error_}}
    );
    return Event::written;
}

Attempt::StoredResult Attempt::load_result(store::Session& session, const KeyRow& row) {
    result_.reset();
    result_was_stored_ = false;
    auto found = StoredResult::none;
    const auto load = [&](const detail::Row& stored) {
        found = StoredResult::stranded;
        const auto& results = step().results;
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (results[i].name != stored.text(0)) continue;
            auto decoded = results[i].decode(stored.text(1));
            auto* value = std::get_if<detail::ErasedValue>(&decoded);
            if (value == nullptr) return;
            result_ = detail::CallResult{i, std::move(*value)};
            result_was_stored_ = true;
            found = StoredResult::loaded;
        }
    };
    detail::run_statement(
        session, sql::find_unrecorded_result, load, row.id, row.generation, row.recovery_point
    );
    return found;
}

Attempt::Event Attempt::noted(Failed failed) {
    return failed ? event_of_failure(failed) : Event::written;
}

// If the key has left the attention list (a person settled it during the call, or it was reaped),
// the result may contradict the decision. Then the audit log is the only place that shows it.
void Attempt::run_note_result(store::Session& session) {
    const auto& form = step().results[result_->result];
    const auto result = form.encode(result_->value.get());
    const auto kept = execute_statement(
        session,
        sql::keep_result_for_person,
        facts_.id,
        form.name,
        result,
        facts_.generation,
        facts_.at.stored
    );
    if (kept != 0) return;
    // The row moved on under our own number: our commit succeeded, only its answer was lost.
    const auto row = find_key(session, facts_.id);
    if (row && !row->expired && row->attempt == facts_.number &&
        row->recovery_point != facts_.at.stored)
        return;
    log::limited_error(
        "late_result",
        {{"key_id", facts_.id},
         {"operation", operation_->name},
         {"point", facts_.at.stored},
         {"result", form.name}}
    );
    execute_statement(
        session,
        sql::insert_audit,
        session.now(),
        "pawl",
        "late result",
        facts_.id,
        std::string{form.name} + " " + result
    );
}

}  // namespace pawl::engine
