#include "src/base/error_text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/response_rule.hpp"
#include "src/engine/tx_factory.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <utility>

namespace pawl::engine {

using detail::execute_statement;

namespace {

// By Settlement::Kind.
constexpr std::string_view words[] = {"happened", "did-not-happen", "give-up"};

// For operations without `abandon`.
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

// A decision is carried out by a take-over: a new attempt, fenced by the attempt that put the key
// on the attention list, in one transaction with the phases that follow.
void Attempt::settle(const Settlement& settlement) {
    settlement_ = settlement;
    on(Event::decision);
}

Attempt::Event Attempt::settled(Failed failed) {
    if (!failed) {
        PAWL_FAULT("engine.settle.after");
        return committed();
    }
    const auto event = event_of_failure(failed);
    if (!is_fenced(failed)) return event;
    answer_ = Rejection{.reason = Reason::in_progress};
    return Event::fenced;
}

Attempt::Outcome Attempt::run_settlement(store::Session& session) {
    const auto row = find_key(session, settlement_->key_id);
    if (!row || row->expired || row->status != core::KeyStatus::attention ||
        row->attempt != settlement_->attempt)
        return Rejection{.reason = Reason::in_progress};  // Another server has carried it out.
    if (!load_point(*row))
        throw std::runtime_error{"PAWL0007: recovery point " + row->recovery_point + " is unknown"};
    load_refusals(session, row->id);
    if (!take_from_attention(session, *row)) return Rejection{.reason = Reason::in_progress};
    const auto from = facts_.at;
    join_trace(session);
    note("settled", {.by = actor(), .result = std::string{words[std::size_t(settlement_->kind)]}});
    Outcome reached = from;
    if (settlement_->kind != Settlement::Kind::did_not_happen)
        reached = advance(session, from.step, settled_move(session, {.called_at = row->called_at}));
    else if (step().foreign)
        // A new generation: the provider must not take it for the call in doubt.
        mark_call(session.now(), from, Lost::no);
    else
        reached = advance_from(session, from);  // A phase failed too often.
    move_row(session, reached);
    return reached;
}

// False: the decision was withdrawn, or another server was faster.
bool Attempt::take_from_attention(store::Session& session, const KeyRow& row) {
    const bool again = settlement_->kind == Settlement::Kind::did_not_happen;
    // First: if it touches no row, nothing has been written.
    const auto decided = execute_statement(
        session, sql::delete_attention, row.id, row.attempt, settlement_->decided_at
    );
    if (decided == 0) return false;
    const auto now = session.now();
    detail::fence_statement(
        session,
        sql::take_from_attention,
        row.id,
        row.attempt,
        again ? 1 : 0,
        lease_end(session),
        now,
        engine_.store().server()
    );
    facts_.id = row.id;
    facts_.number = row.attempt + 1;
    facts_.generation = row.generation + (again ? 1 : 0);
    execute_statement(
        session,
        sql::insert_audit,
        now,
        settlement_->by,
        "settled " + std::string{words[std::size_t(settlement_->kind)]},
        row.id,
        settlement_->result_name
    );
    return true;
}

SettlePreview Attempt::preview(store::Session& session, const Settlement& settlement) {
    settlement_ = settlement;
    auto outcome = run_settlement(session);
    if (auto* settled = std::get_if<StoredResponse>(&outcome))
        return {.answer = std::move(settled->response)};
    if (auto* position = std::get_if<Position>(&outcome)) return {.call_from = position->stored};
    return {.error = "it is not on the attention list any more"};
}

detail::StepOutcome Attempt::settled_move(store::Session& session, const Abandoned& why) {
    const auto& settlement = *settlement_;
    const auto& form = step();
    void* op = operation_->op.get();
    auto context = tx_context(session);
    context.running.label.step = form.from;
    return detail::TxFactory::with_tx(context, [&](Tx& tx) -> detail::StepOutcome {
        if (settlement.kind == Settlement::Kind::give_up)
            return form.abandon != nullptr ? form.abandon(op, tx, facts_.at.point.get(), why)
                                           : answer(given_up(why));
        for (std::size_t i = 0; i < form.results.size(); ++i) {
            if (form.results[i].name != settlement.result_name) continue;
            auto decoded = form.results[i].decode(settlement.result);
            if (auto* wrong = std::get_if<std::string>(&decoded))
                throw std::invalid_argument{
                    "the result " + settlement.result_name + " is not as it should be: " + *wrong};
            return form.keep(
                op, tx, facts_.at.point.get(), {i, std::get<detail::ErasedValue>(decoded)}
            );
        }
        throw std::invalid_argument{
            "the call from " + std::string{form.from} + " has no result named '" +
            settlement.result_name + "'"};
    });
}

void Attempt::run_failed_settlement(store::Session& session) {
    execute_statement(
        session,
        sql::set_settling_error,
        settlement_->key_id,
        settlement_->attempt,
        base::sanitized_error(error_)
    );
}

}  // namespace pawl::engine
