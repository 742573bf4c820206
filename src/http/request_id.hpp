#pragma once

#include <pawl/request_head.hpp>

#include "src/core/trace_context.hpp"

#include <optional>
#include <string>

namespace pawl::http {

// By which a client, a proxy and our logs call one request: the client's X-Request-Id of 1 to 64
// visible ASCII characters, or the trace id of its traceparent, or one that is made here.
std::string request_id_of(const RequestHead& head);

// The span of the client that sent the request; nullopt: none, or its headers are malformed.
std::optional<core::TraceContext> caller_of(const RequestHead& head);

}  // namespace pawl::http
