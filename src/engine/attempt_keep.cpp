#include <pawl/detail/rows.hpp>

#include "src/core/fault.hpp"
#include "src/core/mutant.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/log.hpp"
#include "src/engine/maker.hpp"
#include "src/engine/refusal.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

using detail::run_statement;

namespace {
constexpr auto no_rows = [](const detail::Row&) {};
}  // namespace

void Attempt::keep(detail::Arrival arrival) {
    class Second final : public store::Work {
    public:
        Second(std::shared_ptr<Attempt> attempt, detail::Arrival arrival)
            : attempt_{std::move(attempt)}, arrival_{std::move(arrival)} {}
        void run(store::Session& session) override {
            auto& a = *attempt_;
            auto moved = detail::Maker::with_tx(
                a.engine_.tx_context(session, a.id_, a.staged_, a.operation_->isolation),
                [&](Tx& tx) {
                    return a.step().keep(a.operation_->op.get(), tx, a.at_.point.get(), arrival_);
                }
            );
            PAWL_FAULT("engine.keep.inside");
            a.reached_ = a.advance(session, a.at_.step, std::move(moved));
            a.move_row(session, *a.reached_);
        }
        void done(std::exception_ptr failed) noexcept override {
            attempt_->on_kept(arrival_, std::move(failed));
        }
        std::chrono::milliseconds deadline() const override {
            return attempt_->engine_.options().phase_deadline;
        }
        Isolation isolation() const override { return attempt_->operation_->isolation; }
        const void* kind() const override { return &attempt_->step(); }

    private:
        std::shared_ptr<Attempt> attempt_;
        detail::Arrival arrival_;
    };
    PAWL_FAULT("engine.keep.before");
    engine_.store().write(std::make_unique<Second>(shared_from_this(), std::move(arrival)));
}

void Attempt::on_kept(const detail::Arrival& arrival, std::exception_ptr failed) {
    if (!failed || (PAWL_MUTANT("answer_though_not_kept") && reached_)) {
        PAWL_FAULT("engine.keep.after");
        return go_on();
    }
    if (is_lost_lease(failed)) return lost_lease(arrival);
    auto failure = failure_of(failed);
    const bool never = step().again == Repeat::never;
    if (failure.passing && never) {
        return try_later(std::move(failure.refusal), [self = shared_from_this(), arrival] {
            self->keep(arrival);
        });
    }
    if (!failure.passing && never)
        return hand_to_person(
            "in-doubt", "the result could not be kept: " + failure.refusal.detail, arrival
        );
    give_back(
        core::AfterCall::try_again,
        "the result could not be kept: " + failure.refusal.detail,
        failure.refusal
    );
}

// A result that can't be asked for again is kept in memory until it can be written. Its client need
// not wait for that. A process that ends takes it along: the mark of the call stands in the row,
// and the next start asks a person.
void Attempt::try_later(Refused refusal, std::function<void()> again) {
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
    const auto kept = run_statement(
        session,
        sql::keep_result_for_person,
        no_rows,
        id_,
        form.name,
        result,
        generation_,
        at_.stored
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
    run_statement(
        session,
        sql::insert_audit,
        no_rows,
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
         )](const std::exception_ptr& failed, std::optional<KeyRow> row, TimePoint) {
            if (failed) return self->end(failure_of(failed).refusal);
            const bool found = row && !row->expired;
            if (found && row->standing == core::Standing::finished)
                return self->end(Settled{std::move(row->response), true, row->expires_at});
            if (found && row->standing == core::Standing::attention)
                return self->end(Refused{.why = Why::needs_attention});
            self->end(Refused{.why = Why::in_progress});
        }
    );
}

}  // namespace pawl::engine
