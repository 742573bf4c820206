#include "src/engine/trace.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/engine/engine.hpp"
#include "src/engine/observers.hpp"
#include "src/engine/timeline.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

std::optional<core::TraceContext> find_trace(detail::Session& session, std::string_view hash) {
    std::optional<core::TraceContext> found;
    const auto look = [&](const detail::Row& row) {
        if (found) return;
        const auto decoded = from_json<TimelineEvents>(std::string{row.text(0)}, Unknown::ignored);
        if (!decoded) return;
        for (const auto& event : decoded->events)
            if (event.trace && !found) found = core::TraceContext::from_text(*event.trace);
    };
    detail::run_statement(session, sql::list_last_key_events, look, hash);
    return found;
}

void Engine::observe(std::shared_ptr<Observer> by) {
    if (observer_) by = std::make_shared<Observers>(std::move(observer_), std::move(by));
    observer_ = std::move(by);
    trace_ratio_ = observer_->trace_ratio();
}

TracePtr Engine::begin_trace(const std::optional<core::TraceContext>& caller) {
    if (!trace_ratio_) return caller ? std::make_shared<Trace>(Trace{.here = *caller}) : nullptr;
    auto& random = parts_.random;
    if (!caller)
        return std::make_shared<Trace>(Trace{
            .here = core::TraceContext::root(
                {random.next(), random.next()}, random.next(), *trace_ratio_
            )});
    return std::make_shared<Trace>(Trace{
        .here = caller->child(random.next()), .parent = std::string{caller->span_id()}});
}

// A second root in the same trace: the span of the attempt before may never have been recorded.
TracePtr Engine::continue_trace(const std::optional<core::TraceContext>& earlier) {
    auto trace = begin_trace(earlier);
    if (trace && trace_ratio_) trace->parent.clear();
    return trace;
}

std::optional<core::TraceContext> Engine::span_under(const core::TraceContext* trace) {
    if (trace == nullptr) return std::nullopt;
    return trace_ratio_ ? trace->child(parts_.random.next()) : *trace;
}

void Engine::look_up_trace(
    std::string hash, std::function<void(std::optional<core::TraceContext>)> found
) {
    auto trace = std::make_shared<std::optional<core::TraceContext>>();  // Of the two callbacks.
    parts_.store.read(store::work(
        [trace, hash = std::move(hash)](store::Session& session) {
            *trace = find_trace(session, hash);
        },
        [trace, held = live_.hold(), found = std::move(found)](const std::exception_ptr& failed) {
            found(failed ? std::nullopt : std::move(*trace));
        }
    ));
}

}  // namespace pawl::engine
