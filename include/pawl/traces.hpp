#pragma once

#include <pawl/service.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace pawl {

// Where spans go (OpenTelemetry): docs/howto/traces.md.
struct TraceOptions {
    // A collector that takes OTLP over HTTP, such as http://127.0.0.1:4318: /v1/traces is appended.
    // Empty: no spans are recorded, and a client's trace is only passed on.
    std::string otlp_url{};
    // A file of headers for the collector, "NAME: VALUE" a line, such as its token. Never printed.
    std::string headers_file{};
    // The part of the traces that begin here, 0 to 1. Others are recorded if their caller does.
    double ratio{1};
    std::string service{"pawl"};  // OpenTelemetry's service.name.
    // Spans that wait to be sent; more are dropped, and counted. One has about half a kilobyte.
    std::size_t waiting_max{8'192};
    std::chrono::milliseconds timeout{10'000};    // Of one request to the collector.
    std::chrono::milliseconds stop_limit{2'000};  // For the last spans, at the end.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Sends the spans of a service to a collector while it lives, on a thread of its own: no request
// waits for it or fails by it. Without otlp_url it does nothing.
class Traces {
public:
    // Make it before Service::start() and HttpServer::start(); it must end before the service.
    // Throws std::invalid_argument (options, the file), std::logic_error (the service has started).
    Traces(Service& service, TraceOptions options);
    ~Traces();  // Sends what waits, for at most stop_limit.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
