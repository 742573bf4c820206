#include "src/engine/run_phase.hpp"

#include <utility>
#include <variant>

namespace pawl::engine {

namespace {

detail::StepOutcome run_in_tx(
    detail::TxContext context,
    const detail::ErasedOperation& operation,
    const detail::ReachedPoint& at
) {
    context.running.label.name = operation.name;
    context.running.label.step = operation.steps[at.step].from;
    return detail::TxFactory::with_tx(context, [&](Tx& tx) {
        return operation.steps[at.step].run(operation.op.get(), tx, at.point.get());
    });
}

}  // namespace

detail::StepOutcome run_phase(
    detail::TxContext context,
    const detail::ErasedOperation& operation,
    const detail::ReachedPoint& at
) {
    if (!operation.steps[at.step].may_refuse) return run_in_tx(context, operation, at);
    bool staged = false;
    auto* const outer = std::exchange(context.staged, &staged);
    context.session.savepoint();
    const auto referenced = context.references != nullptr ? context.references->size() : 0;
    auto outcome = run_in_tx(context, operation, at);
    if (std::holds_alternative<Refusal>(outcome)) {
        context.session.roll_back_to();
        if (context.references != nullptr) context.references->keep_first(referenced);
        return outcome;
    }
    context.session.release();
    if (staged && outer != nullptr) *outer = true;
    return outcome;
}

Response* final_response(detail::StepOutcome& outcome) {
    if (auto* answer = std::get_if<pawl::Answer>(&outcome)) return &answer->response;
    if (auto* refusal = std::get_if<Refusal>(&outcome)) return &refusal->response;
    return nullptr;
}

}  // namespace pawl::engine
