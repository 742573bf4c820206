#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/fault.hpp"
#include "src/core/move.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/rejection.hpp"
#include "src/engine/tx_factory.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

using detail::execute_statement;
using detail::fence_statement;

namespace {}  // namespace

void Attempt::keep(detail::Arrival arrival, KeepPlan plan) {
    class Second final : public store::Work {
    public:
        Second(std::shared_ptr<Attempt> attempt, detail::Arrival arrival, KeepPlan plan)
            : attempt_{std::move(attempt)}, arrival_{std::move(arrival)}, plan_{std::move(plan)} {}
        void run(store::Session& session) override { attempt_->run_keep(session, arrival_, plan_); }
        void done(std::exception_ptr failed) noexcept override {
            attempt_->on_kept(arrival_, plan_, failed);
        }
        std::chrono::milliseconds deadline() const override {
            return attempt_->engine_.options().phase_deadline;
        }
        Isolation isolation() const override { return attempt_->operation_->isolation; }
        const void* kind() const override { return &attempt_->step(); }

    private:
        std::shared_ptr<Attempt> attempt_;
        detail::Arrival arrival_;
        KeepPlan plan_;
    };
    PAWL_FAULT("engine.keep.before");
    engine_.store().write(
        std::make_unique<Second>(shared_from_this(), std::move(arrival), std::move(plan))
    );
}

void Attempt::run_keep(
    store::Session& session, const detail::Arrival& arrival, const KeepPlan& plan
) {
    verdict_.reset();
    auto moved = detail::TxFactory::with_tx(
        engine_.tx_context(session, id_, staged_, operation_->isolation),
        [&](Tx& tx) { return step().keep(operation_->op.get(), tx, at_.point.get(), arrival); }
    );
    PAWL_FAULT("engine.keep.inside");
    const auto* reached = std::get_if<detail::Reached>(&moved);
    const bool stops_here = plan.extent == core::KeepExtent::keeper_alone && reached != nullptr &&
                            !operation_->steps[reached->step].foreign;
    if (!stops_here) {
        reached_ = advance(session, at_.step, std::move(moved));
        return move_row(session, *reached_);
    }
    core::check_move(at_.step, reached->step, operation_->steps.size());
    const auto stored = std::string{operation_->steps[reached->step].from};
    reached_ = Position{reached->step, reached->point, stored};
    move_row(session, *reached_);
    fence_statement(
        session,
        sql::fail_attempt,
        id_,
        number_,
        stored,
        base::storable_error(plan.error),
        session.now()
    );
    verdict_ = Rejection{.why = Reason::internal, .detail = plan.error};
}

void Attempt::on_kept(
    const detail::Arrival& arrival, const KeepPlan& plan, const std::exception_ptr& failed
) {
    if (!failed) {
        PAWL_FAULT("engine.keep.after");
        if (!verdict_) return go_on();
        if (std::exchange(staged_, false)) engine_.staged();
        return end(*verdict_);
    }
    if (is_lost_lease(failed)) return lost_lease(arrival);
    on_failed_keep(arrival, plan, failure_of(failed));
}

void Attempt::on_failed_keep(
    const detail::Arrival& arrival, const KeepPlan& plan, Failure failure
) {
    using core::AfterFailedKeep;
    const auto kind = failure.passing ? core::KeepFailure::passing : core::KeepFailure::defect;
    const auto text = "the result could not be kept: " + failure.refusal.detail;
    switch (core::decide_after_failed_keep(step().again, kind, plan.extent)) {
        case AfterFailedKeep::keep_later:
            return try_later(
                std::move(failure.refusal),
                [self = shared_from_this(), arrival, plan] { self->keep(arrival, plan); }
            );
        case AfterFailedKeep::call_again:
            return give_back(core::AfterCall::try_again, text, std::move(failure.refusal));
        case AfterFailedKeep::keep_alone:
            return keep(arrival, {core::KeepExtent::keeper_alone, failure.refusal.detail});
        case AfterFailedKeep::needs_person:
            return hand_to_person("not-kept", "PAWL0019: " + text, arrival);
    }
}

// A result that can't be asked for again is kept in memory until it can be written. Its client need
// not wait for that. A process that ends takes it along: the mark of the call stands in the row,
// and the next start asks a person.
void Attempt::try_later(Rejection refusal, std::function<void()> again) {
    log::warning("keep_later", {{"key_id", std::to_string(id_)}, {"point", at_.stored}});
    if (engine_.calls().stop_token().stop_requested()) return end(std::move(refusal));
    if (on_answer_) std::exchange(on_answer_, nullptr)(std::move(refusal));
    engine_.timers().after(std::chrono::seconds{1}, std::move(again));
}

// Another attempt has the key. A result that can't be asked for again is put before the person who
// will be asked; then what the other attempt has made of the key is looked at once.
void Attempt::lost_lease(const std::optional<detail::Arrival>& arrival) {
    if (!arrival || step().again != Repeat::never) return look_once();
    auto self = shared_from_this();
    engine_.store().write(store::work(
        [self, arrival](store::Session& session) { self->keep_for_person(session, *arrival); },
        [self, arrival](const std::exception_ptr& failed) {
            if (!failed) return self->look_once();
            auto failure = failure_of(failed);
            if (!failure.passing) return self->end(std::move(failure.refusal));
            self->try_later(std::move(failure.refusal), [self, arrival] {
                self->lost_lease(arrival);
            });
        }
    ));
}

// If nobody is to be asked any more (it was settled while the call hung, or the key is gone), the
// result contradicts what was decided, perhaps: money that nobody looks for. So it stands at least
// in the audit log.
void Attempt::keep_for_person(store::Session& session, const detail::Arrival& arrival) {
    const auto& form = step().results[arrival.result];
    const auto result = form.encode(arrival.value.get());
    const auto kept = execute_statement(
        session, sql::keep_result_for_person, id_, form.name, result, generation_, at_.stored
    );
    if (kept != 0) return;
    // Moved on under our own number: our commit was kept, and its answer was lost.
    const auto row = find_key(session, id_);
    if (row && !row->expired && row->attempt == number_ && row->recovery_point != at_.stored)
        return;
    log::error(
        "late_result",
        {{"key_id", std::to_string(id_)},
         {"operation", std::string{operation_->name}},
         {"point", at_.stored},
         {"result", std::string{form.name}}}
    );
    execute_statement(
        session,
        sql::insert_audit,
        session.now(),
        "pawl",
        "late result",
        id_,
        std::string{form.name} + " " + result
    );
}

void Attempt::look_once() {
    look_for_key(
        engine_.store(),
        id_,
        [self = shared_from_this(
         )](const std::exception_ptr& failed, std::optional<KeyRow>& row, TimePoint) {
            if (failed) return self->end(failure_of(failed).refusal);
            const bool found = row && !row->expired;
            if (found && row->standing == core::Standing::finished)
                return self->end(StoredResponse{std::move(row->response), true, row->expires_at});
            if (found && row->standing == core::Standing::attention)
                return self->end(Rejection{.why = Reason::needs_attention});
            self->end(Rejection{.why = Reason::in_progress});
        }
    );
}

}  // namespace pawl::engine
