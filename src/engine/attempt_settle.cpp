#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/rejection.hpp"
#include "src/engine/response_rule.hpp"
#include "src/engine/tx_factory.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <utility>

namespace pawl::engine {

using detail::execute_statement;

namespace {

std::string_view word_of(Settlement::Kind kind) {
    switch (kind) {
        case Settlement::Kind::happened:
            return "happened";
        case Settlement::Kind::did_not_happen:
            return "did-not-happen";
        case Settlement::Kind::give_up:
            break;
    }
    return "give-up";
}

// For operations without an `abandon` of their own.
Response given_up(const Abandoned& why) {
    const std::string_view detail =
        why.called_at ? "A part of it outside this service may have been carried out."
                      : "It was not carried out.";
    return {
        .status = 422,
        .body = R"({"type":"/errors/given-up","title":"Given up by an operator","status":422,)"
                R"("detail":")" +
                std::string{detail} + R"(","retry":false})",
        .content_type = "application/problem+json"};
}

}  // namespace

// Carrying out what a person decided is a take-over like any other: a new attempt, fenced by the
// one that came to the attention list, in one transaction with what follows from it.
void Attempt::settle(const Settlement& settlement) {
    auto self = shared_from_this();
    PAWL_FAULT("engine.settle.before");
    engine_.store().write(store::work(
        [self, settlement](store::Session& session) { self->run_settlement(session, settlement); },
        [self, settlement](const std::exception_ptr& failed) {
            if (!failed) {
                PAWL_FAULT("engine.settle.after");
                if (self->verdict_) return self->end(*self->verdict_);
                return self->go_on();
            }
            if (is_lost_lease(failed)) return self->end(Rejection{.why = Reason::in_progress});
            auto failure = failure_of(failed);
            if (failure.passing) return self->end(failure.refusal);
            self->record_settling_error(settlement, failure.refusal.detail);
        },
        engine_.options().phase_deadline,
        operation_->isolation
    ));
}

void Attempt::run_settlement(store::Session& session, const Settlement& settlement) {
    verdict_.reset();
    reached_.reset();
    const auto row = find_key(session, settlement.key_id);
    if (!row || row->expired || row->standing != core::Standing::attention ||
        row->attempt != settlement.attempt) {
        verdict_ = Rejection{.why = Reason::in_progress};  // Somebody else has carried it out.
        return;
    }
    if (!load_point(*row))
        throw std::runtime_error{"PAWL0007: recovery point " + row->recovery_point + " is unknown"};
    const bool again = settlement.kind == Settlement::Kind::did_not_happen;
    // First, as nothing is written yet if it was taken back, or another server was faster.
    const auto decided = execute_statement(
        session, sql::delete_attention, row->id, row->attempt, settlement.decided_at
    );
    if (decided == 0) {
        verdict_ = Rejection{.why = Reason::in_progress};
        return;
    }
    const auto now = session.now();
    detail::fence_statement(
        session,
        sql::take_from_attention,
        row->id,
        row->attempt,
        again ? 1 : 0,
        lease_end(session),
        now
    );
    id_ = row->id;
    number_ = row->attempt + 1;
    generation_ = row->generation + (again ? 1 : 0);
    execute_statement(
        session,
        sql::insert_audit,
        now,
        settlement.by,
        "settled " + std::string{word_of(settlement.kind)},
        row->id,
        settlement.result_name
    );
    if (again && !step().foreign) {
        reached_ =
            advance_from(session, at_);  // A phase that failed too often: it was undone each time.
    } else if (again) {
        // A new generation: the provider must not take it for the call in doubt.
        mark_call(now, at_, Lost::no);
        reached_ = at_;
    } else {
        const auto moved = settled_move(session, settlement, {.called_at = row->called_at});
        reached_ = advance(session, at_.step, moved);
    }
    move_row(session, *reached_);
}

SettlePreview Attempt::preview(store::Session& session, const Settlement& settlement) {
    run_settlement(session, settlement);
    if (!reached_) return {.error = "it is not on the attention list any more"};
    if (auto* response = std::get_if<Response>(&*reached_)) return {.answer = std::move(*response)};
    return {.call_from = std::get<Position>(*reached_).stored};
}

detail::Moved Attempt::settled_move(
    store::Session& session, const Settlement& settlement, const Abandoned& why
) {
    const auto& form = step();
    void* op = operation_->op.get();
    return detail::TxFactory::with_tx(
        engine_.tx_context(session, id_, staged_, operation_->isolation),
        [&](Tx& tx) -> detail::Moved {
            if (settlement.kind == Settlement::Kind::give_up)
                return form.abandon != nullptr ? form.abandon(op, tx, at_.point.get(), why)
                                               : given_up(why);
            for (std::size_t i = 0; i < form.results.size(); ++i) {
                if (form.results[i].name != settlement.result_name) continue;
                auto decoded = form.results[i].decode(settlement.result);
                if (auto* wrong = std::get_if<std::string>(&decoded))
                    throw std::invalid_argument{
                        "the result " + settlement.result_name +
                        " is not as it should be: " + *wrong};
                return form.keep(op, tx, at_.point.get(), {i, std::get<detail::Anything>(decoded)});
            }
            throw std::invalid_argument{
                "the call from " + std::string{form.from} + " has no result named '" +
                settlement.result_name + "'"};
        }
    );
}

void Attempt::record_settling_error(const Settlement& settlement, const std::string& error) {
    auto self = shared_from_this();
    engine_.store().write(store::work(
        [settlement, error](store::Session& session) {
            execute_statement(
                session,
                sql::set_settling_error,
                settlement.key_id,
                settlement.attempt,
                base::storable_error(error)
            );
        },
        [self, error](const std::exception_ptr&) {
            self->end(Rejection{.why = Reason::internal, .detail = error});
        }
    ));
}

}  // namespace pawl::engine
