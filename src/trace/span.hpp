#pragma once

#include "src/core/trace_context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::trace {

// By OpenTelemetry's numbers.
enum class SpanKind { internal = 1, server = 2, client = 3, consumer = 5 };

struct Attribute {
    std::string_view name;  // A literal.
    std::variant<std::string, std::int64_t> value;
};

// What was done, from its begin to its end. No text in it is a key, an account or a body.
struct Span {
    core::TraceContext here;
    std::string parent{};  // Its id; empty: it is the root.
    std::optional<core::TraceContext> link{};
    std::string name{};  // Of few different ones.
    SpanKind kind{SpanKind::internal};
    std::int64_t began_ns{};  // Since 1970.
    std::int64_t ended_ns{};
    std::vector<Attribute> attributes{};
    bool failed{};
};

}  // namespace pawl::trace
