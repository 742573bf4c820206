#pragma once

#include <pawl/detail/erased_operation.hpp>

#include "src/core/attempt_machine.hpp"
#include "src/core/call_rule.hpp"
#include "src/engine/answer.hpp"

#include <chrono>
#include <cstddef>
#include <string_view>

namespace pawl::engine {

// A step of an operation, and for a Routed call the provider's name.
struct ObservedStep {
    const detail::ErasedOperation& operation;
    std::size_t step{};
    std::string_view provider{};
};

// How the jobs ended that a worker worked together; all are of one kind.
struct JobsEnded {
    int done{};
    int done_before{};
    int retried{};
    int dead{};
    int lost{};
};

// Receives what the engine, the workers and the HTTP server do, for metrics. All functions are
// called from many threads at once and must be quick: none may wait.
class Observer {
public:
    using Took = std::chrono::nanoseconds;

    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    // The answer to a request, over HTTP or not; also of requests that another attempt answered.
    virtual void on_answer(const detail::ErasedOperation& operation, const Answer& answer) = 0;
    virtual void on_event(core::attempt::Event event) = 0;
    // An attempt goes on with a key that another one has left.
    virtual void on_takeover(const detail::ErasedOperation& operation) = 0;
    // A phase has run, in a transaction that may still be rolled back.
    virtual void on_phase(const ObservedStep& phase, Took took) = 0;
    virtual void on_call(const ObservedStep& call, core::CallEnded ended, Took took) = 0;
    virtual void on_inquiry(const ObservedStep& call, core::InquiryEnded ended, Took took) = 0;
    virtual void on_jobs(
        std::string_view queue, std::string_view kind, const JobsEnded& ended, Took took
    ) = 0;
    // `route` is the pattern, empty if no route has the path.
    virtual void on_http(
        std::string_view method, std::string_view route, int status, Took took
    ) = 0;
};

}  // namespace pawl::engine
