#include "src/base/error_text.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/failure.hpp"
#include "src/store/blocking.hpp"

#include <memory>

namespace pawl::engine {

namespace {

// Thrown to roll back the preview's transaction.
struct RolledBack {};

}  // namespace

SettlePreview Engine::preview(const Settlement& settlement) {
    const auto row = store::read_now(parts_.store, [&](store::Session& session) {
        return find_key(session, settlement.key_id);
    });
    if (!row || row->expired) return {.error = "there is no such key"};
    const auto* operation = find(row->operation);
    if (operation == nullptr)
        return {.error = "PAWL0007: this program does not know the operation " + row->operation};
    SettlePreview preview;
    try {
        store::write_now(
            parts_.store,
            [&](store::Session& session) {
                const auto attempt = std::make_shared<Attempt>(*this, *operation, *row, nullptr);
                preview = attempt->preview(session, settlement);
                throw RolledBack{};
            },
            options_.phase_deadline,
            operation->settings.isolation
        );
    } catch (const RolledBack&) {
        return preview;
    } catch (...) {
        const auto failure = failure_of(std::current_exception());
        if (failure.transient) throw;
        return {.error = base::sanitized_error(failure.rejection.detail)};
    }
    return preview;
}

}  // namespace pawl::engine
