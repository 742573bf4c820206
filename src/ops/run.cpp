#include "src/ops/run.hpp"

#include "src/base/blocking_wait.hpp"
#include "src/base/in_transaction.hpp"
#include "src/core/assert.hpp"
#include "src/core/key_text.hpp"
#include "src/json/hash.hpp"
#include "src/ops/service_impl.hpp"

#include <future>
#include <stdexcept>

namespace pawl {

namespace {

RunProblem not_run(std::string type, std::string detail) {
    return {.type = std::move(type), .status = 400, .detail = std::move(detail)};
}

RunResult result_of(engine::Answer answer) {
    if (auto* stored = std::get_if<engine::StoredResponse>(&answer))
        return RunAnswer{std::move(stored->response), stored->replayed};
    const auto& rejection = std::get<engine::Rejection>(answer);
    const bool retry = engine::may_succeed_later(rejection.reason);
    return RunProblem{
        .type = std::string{engine::name_of(rejection.reason)},
        .status = engine::status_of(rejection.reason),
        .retry = retry,
        .retry_after = retry ? rejection.retry_after : std::chrono::seconds{0}};
}

// What is wrong with the key; nullopt: nothing.
std::optional<RunProblem> check_key(KeyRule rule, std::string_view key) {
    if (key.empty()) {
        if (rule != KeyRule::required) return std::nullopt;
        return not_run("key-missing", "This operation needs a key.");
    }
    if (rule == KeyRule::none) return not_run("key-invalid", "This operation has no key.");
    if (auto why = core::key_problem(key)) return not_run("key-invalid", std::move(*why));
    return std::nullopt;
}

}  // namespace

void ops::run(
    engine::Engine& engine,
    const detail::ErasedOperation& operation,
    const Principal& principal,
    std::string_view key,
    detail::ErasedValue request,
    std::function<void(RunResult)> on_end
) {
    if (auto problem = check_key(operation.settings.key, key)) return on_end(std::move(*problem));
    auto on_answer = [on_end = std::move(on_end)](engine::Answer answer) {
        on_end(result_of(std::move(answer)));
    };
    if (operation.settings.key == KeyRule::none)
        return engine.handle_unkeyed(operation, {0, principal, {}}, request, std::move(on_answer));
    engine::KeyedRequest keyed;
    keyed.operation = &operation;
    keyed.principal = principal;
    keyed.key = key.empty() ? engine.generated_key() : std::string{key};
    keyed.method = "RUN";
    keyed.path = operation.name;
    keyed.request = std::move(request);
    keyed.params = operation.encode_request(keyed.request.get());
    json::Parts parts;
    parts.add(keyed.method).add(keyed.path).add(keyed.params);
    engine::set_fingerprint(keyed, std::move(parts).bytes(), engine.installation());
    engine.handle(std::move(keyed), std::move(on_answer));
}

void Service::start_erased(
    std::string_view operation,
    const Principal& principal,
    std::string_view key,
    CheckedRequest request,
    std::function<void(RunResult)> on_end
) {
    const auto* form = impl_->engine.find(operation);
    if (form == nullptr)
        throw std::logic_error{
            "pawl: the operation '" + std::string{operation} + "' was not added to this service"};
    if (auto* problem = std::get_if<DecodeProblem>(&request))
        return on_end(not_run("request-invalid", detail::text_of(*problem)));
    auto value = std::get<detail::ErasedValue>(std::move(request));
    ops::run(impl_->engine, *form, principal, key, std::move(value), std::move(on_end));
}

RunResult Service::run_erased(
    std::string_view operation,
    const Principal& principal,
    std::string_view key,
    CheckedRequest request
) {
    PAWL_ASSERT(!base::in_transaction());
    std::promise<RunResult> ended;
    start_erased(operation, principal, key, std::move(request), [&](RunResult result) {
        ended.set_value(std::move(result));
    });
    return base::wait_for(ended.get_future());
}

Database& Service::database() {
    return impl_->database;
}

}  // namespace pawl
