#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/engine/engine.hpp"
#include "store/statements.hpp"

#include <cstdint>
#include <utility>

namespace pawl::engine {

namespace {

using detail::Row;
using detail::run_statement;

// Of one that no operation names: "book-ride at ride_created".
std::string name_of(const Engine::EndedCall& call) {
    if (!call.target.empty()) return std::string{call.target};
    return std::string{call.operation} + " at " + std::string{call.point};
}

struct Reported {
    std::string name;
    std::string target;
    std::string operation;
    std::string point;
    std::string error;
    bool down{};
    std::int64_t waiting{-1};  // Unless the database answers.
};

// Open requests at calls to this provider.
std::int64_t count_waiting(store::Session& session, const Reported& provider) {
    std::int64_t waiting = 0;
    if (provider.target.empty())
        run_statement(session, sql::count_open_by_point, [&](const Row& row) {
            if (row.text(0) == provider.operation && row.text(1) == provider.point)
                waiting = row.integer(2);
        });
    else
        run_statement(session, sql::list_providers, [&](const Row& row) {
            if (row.text(0) == provider.target) waiting = row.integer(1);
        });
    return waiting;
}

void log_change(const Reported& provider) {
    const auto& name = provider.name;
    if (provider.down)
        log::limited_warning(
            "provider_down",
            name,
            {{"provider", name}, {"waiting", provider.waiting}, {"error", provider.error}}
        );
    else
        log::limited_info("provider_up", name, {{"provider", name}, {"waiting", provider.waiting}});
}

}  // namespace

void Engine::call_ended(const EndedCall& call, const std::string& error) {
    if (call.answered && !provider_watch_.any_failing()) return;
    const auto change = provider_watch_.ended(name_of(call), call.answered, clock().now(), error);
    log_provider(change, call, error);
}

std::vector<ProviderHealth> Engine::providers_down() {
    auto down = routers_.down();
    for (auto& one : provider_watch_.down(clock().now())) down.push_back(std::move(one));
    return down;
}

// The count is read on a thread of the store: the caller has a call's result to keep.
void Engine::log_provider(ProviderChange change, const EndedCall& call, const std::string& error) {
    if (change == ProviderChange::none) return;
    auto provider = std::make_shared<Reported>(  // Shared by the two halves of one read.
        Reported{
            .name = base::sanitized_error(name_of(call)),
            .target = std::string{call.target},
            .operation = std::string{call.operation},
            .point = std::string{call.point},
            .error = base::sanitized_error(error),
            .down = change == ProviderChange::down}
    );
    parts_.store.read(store::work(
        [provider](store::Session& session) {
            provider->waiting = count_waiting(session, *provider);
        },
        [provider, held = live_.hold()](const std::exception_ptr&) { log_change(*provider); }
    ));
}

}  // namespace pawl::engine
