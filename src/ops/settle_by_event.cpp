#include "src/ops/settle_by_event.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/service.hpp>

#include "src/base/error_text.hpp"
#include "src/ops/record_settlement.hpp"
#include "src/ops/service_impl.hpp"
#include "store/statements.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

namespace {

// The shortest beginning of a call key that a provider takes (Provider::key_digits).
constexpr std::size_t call_key_min = 32;

struct Doubt {
    std::int64_t key_id{};
    int attempt{};
    std::string recovery_point;
    std::string operation;
    std::string recovery_data;
};

// A result of the call in doubt, as it is stored.
struct Proven {
    std::string_view name;
    std::string value;
};

std::optional<std::string> if_any(const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : text;
}

std::vector<Doubt> find_doubts(detail::Session& session, const ProviderEvent& event) {
    std::vector<Doubt> found;
    const bool by_key = event.call_key.size() >= call_key_min;
    if (!by_key && (!event.call_key.empty() || event.reference.empty())) return found;
    detail::run_statement(
        session,
        sql::find_doubt_of_event,
        [&](const detail::Row& row) {
            found.push_back(
                {row.integer(0),
                 static_cast<int>(row.integer(1)),
                 std::string{row.text(2)},
                 std::string{row.text(3)},
                 std::string{row.text(4)}}
            );
        },
        if_any(event.call_key),
        if_any(event.reference),
        if_any(event.target)
    );
    return found;
}

// nullopt: the operation has no rule, the event proves nothing, or the row is not of this program.
std::optional<Proven> proof(
    const engine::Engine& engine, const Doubt& doubt, const ProviderEvent& event
) {
    const auto* operation = engine.find(doubt.operation);
    const auto step = operation != nullptr ? operation->step_from(doubt.recovery_point)
                                           : std::optional<std::size_t>{};
    if (!step) return std::nullopt;
    const auto& form = operation->steps[*step];
    if (form.settled_by == nullptr || form.decode == nullptr) return std::nullopt;
    const auto point = form.decode(doubt.recovery_data);
    const auto* decoded = std::get_if<detail::ErasedValue>(&point);
    if (decoded == nullptr) return std::nullopt;
    const auto proven = form.settled_by(operation->op.get(), decoded->get(), event);
    if (!proven) return std::nullopt;
    const auto& result = form.results[proven->first];
    return Proven{result.name, result.encode(proven->second.get())};
}

}  // namespace

bool ops::settle_by(
    const engine::Engine& engine, detail::Session& session, const ProviderEvent& event
) {
    for (const auto& doubt : find_doubts(session, event)) {
        const auto proven = proof(engine, doubt, event);
        if (!proven) continue;
        const auto by = base::sanitized_error("webhook " + event.provider + " " + event.id);
        const auto note = base::sanitized_error("the event " + event.type);
        const bool recorded = record_settlement(
            session,
            {.key_id = doubt.key_id,
             .attempt = doubt.attempt,
             .settlement = "happened",
             .result = std::string{proven->name},
             .value = proven->value,
             .by = by,
             .note = note,
             .audit_detail = note},
            session.now()
        );
        if (recorded) return true;
    }
    return false;
}

bool Service::settle_by(Tx& tx, const ProviderEvent& event) {
    return ops::settle_by(impl_->engine, tx.session(), event);
}

}  // namespace pawl
