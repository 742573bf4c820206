#pragma once

#include "src/trace/span.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// OTLP in its JSON form (opentelemetry-proto, ExportTraceServiceRequest): ids are hex, 64-bit
// numbers are strings.
namespace pawl::trace {

struct Resource {
    std::string service;
    std::string version;  // Of Pawl.
};

std::string otlp_request(std::span<const Span> spans, const Resource& resource);

// How many of the spans the collector has rejected, by the body of its answer 200.
std::int64_t rejected_spans(std::string_view body);

}  // namespace pawl::trace
