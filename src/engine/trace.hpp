#pragma once

#include <pawl/detail/session.hpp>

#include "src/core/trace_context.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::engine {

// Where a request, a job or an attempt of the completer stands in a trace.
struct Trace {
    // Its own span. If nobody records spans: the caller's, which is only passed on.
    core::TraceContext here;
    std::string parent{};                      // Id of the caller's span; empty: none.
    std::optional<core::TraceContext> link{};  // The span of the attempt before at the same key.
    bool at_work{};                            // Its own attempt has claimed the key.
};
// Shared by the attempt, whose spans hang under it, and by the HTTP server, which ends its span.
using TracePtr = std::shared_ptr<Trace>;

// The span of the last attempt at a key, as its time line has it.
std::optional<core::TraceContext> find_trace(detail::Session& session, std::string_view hash);

}  // namespace pawl::engine
