#pragma once

#include <pawl/detail/erased_operation.hpp>

#include "src/core/attempt_machine.hpp"
#include "src/core/call_rule.hpp"
#include "src/engine/answer.hpp"
#include "src/engine/trace.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::engine {

// A step of an operation, and for a Routed call the provider's name.
struct ObservedStep {
    const detail::ErasedOperation& operation;
    std::size_t step{};
    std::string_view provider{};
    // For traces. nullptr: it is in none.
    const core::TraceContext* under{};  // The span of its request or attempt.
    // The span of a call or an inquiry itself, which the provider knows.
    const core::TraceContext* span{};
    std::string_view target{};  // Of a call or an inquiry, as the time line has it.
    std::string_view result{};
    int provider_status{};  // 0: none is known.
};

// How the jobs ended that a worker worked together; all are of one kind.
struct JobsEnded {
    int done{};
    int done_before{};
    int retried{};
    int dead{};
    int lost{};
};

using SteadyTime = std::chrono::steady_clock::time_point;

// A request that is in a trace and has a route.
struct ObservedRequest {
    Trace trace;
    std::string method;
    std::string_view route;
    std::string_view operation;  // Or the query's name; empty: neither.
    std::string key_hash;
    int status{};
    std::string outcome;  // "replayed", or the type of a problem; empty: neither.
    SteadyTime began;
    SteadyTime ended;
};

// An attempt that no request over HTTP has begun: of the completer, or after a person's decision.
struct ObservedAttempt {
    const detail::ErasedOperation& operation;
    const Trace& trace;
    std::string_view by;
    int number{};
    std::string_view key_hash;
    const Answer& answer;
    SteadyTime began;
};

// One try of a job.
struct ObservedJob {
    const Trace& trace;
    std::string_view queue;
    std::string_view kind;
    std::string_view jid;
    int attempt{};
    std::string_view result;  // By the names of JobsEnded.
    SteadyTime began;
    SteadyTime ended;
};

// Of the spans that were recorded.
struct SpanCounts {
    std::int64_t sent{};
    std::int64_t dropped{};  // The queue was full, or the collector did not take them.
};

// Receives what the engine, the workers and the HTTP server do, for metrics and traces. All
// functions are called from many threads at once and must be quick: none may wait.
class Observer {
public:
    using Took = std::chrono::nanoseconds;

    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    // The answer to a request, over HTTP or not; also of requests that another attempt answered.
    virtual void on_answer(const detail::ErasedOperation&, const Answer&) {}
    virtual void on_event(core::attempt::Event) {}
    // An attempt goes on with a key that another one has left.
    virtual void on_takeover(const detail::ErasedOperation&) {}
    // A phase has run, in a transaction that may still be rolled back.
    virtual void on_phase(const ObservedStep&, Took) {}
    // The same for the keeper of a call.
    virtual void on_keep(const ObservedStep&, Took) {}
    virtual void on_call(const ObservedStep&, core::CallEnded, Took) {}
    virtual void on_inquiry(const ObservedStep&, core::InquiryEnded, Took) {}
    virtual void on_jobs(
        std::string_view /*queue*/, std::string_view /*kind*/, const JobsEnded&, Took
    ) {}
    // `route` is the pattern, empty if no route has the path.
    virtual void on_http(
        std::string_view /*method*/, std::string_view /*route*/, int /*status*/, Took
    ) {}

    // The part of the new traces that is recorded; nullopt: this observer records no spans. Never
    // changes.
    virtual std::optional<double> trace_ratio() const { return std::nullopt; }
    virtual std::optional<SpanCounts> span_counts() const { return std::nullopt; }
    virtual void on_request(const ObservedRequest&) {}
    virtual void on_attempt(const ObservedAttempt&) {}
    virtual void on_job(const ObservedJob&) {}
};

}  // namespace pawl::engine
