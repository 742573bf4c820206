#pragma once

#include <pawl/alerts.hpp>
#include <pawl/command_line.hpp>
#include <pawl/operator_server.hpp>
#include <pawl/service.hpp>
#include <pawl/traces.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace pawl {

// Adds the options by which a server is operated, --operate to --trace-ratio, to an App of CLI11,
// which this header does not include. The options outlive the app. `check_number` says what is
// wrong with a whole number, or "": check_decimal() of pawl/command_line.hpp.
template <class App>
void add_operating_options(
    App& app,
    OperatorOptions& operators,
    AlertOptions& alerts,
    TraceOptions& traces,
    std::string (*check_number)(const std::string&)
) {
    app.add_option(
        "--operate",
        operators.listen,
        "Address and port of the operator's listener: probes, metrics, the page; default: none"
    );
    app.add_option(
        "--operators",
        operators.operators_file,
        "File of who may use the operator's page: NAME ROLE TOKEN; default: no page"
    );
    app.add_option(
        "--operator-header",
        operators.user_header,
        "Header in which a proxy names the operator, such as X-Forwarded-User"
    );
    app.add_option(
           "--operator-proxies",
           operators.proxies,
           "Addresses and networks of the proxies whose Forwarded, X-Forwarded-For and "
           "--operator-header count, between commas"
    )
        ->delimiter(',');
    app.template add_option_function<std::int64_t>(
           "--pre-stop-delay-s",
           [&delay = operators.pre_stop_delay](std::int64_t s) { delay = std::chrono::seconds{s}; },
           "How long it serves on after SIGTERM, while /readyz says 503; default: 0"
    )
        ->check(check_number, "NUMBER");
    app.add_option(
        "--alert-webhook", alerts.webhook, "URL that gets the events that need a person, as JSON"
    );
    app.add_option(
        "--alert-command",
        alerts.command,
        "Command of /bin/sh that gets them as JSON on its standard input"
    );
    app.add_option(
           "--otlp-url",
           traces.otlp_url,
           "Collector that takes spans as OTLP over HTTP, such as http://127.0.0.1:4318; default: "
           "none"
    )
        ->envname("OTEL_EXPORTER_OTLP_ENDPOINT");
    app.add_option(
        "--otlp-headers-file",
        traces.headers_file,
        "File of headers for the collector, \"NAME: VALUE\" a line, such as its token"
    );
    app.add_option(
           "--trace-ratio", traces.ratio, "Share of the traces that begin here to record: 0 to 1"
    )
        ->capture_default_str();
}

// Adds --keep-keys and --keep-expired, whose values are as of parse_hours().
template <class App>
void add_keeping_options(App& app, ServiceOptions& service) {
    const auto add = [&app](const char* name, std::chrono::hours& to, const std::string& text) {
        app.template add_option_function<std::string>(
               name, [&to](const std::string& given) { to = *parse_hours(given); }, text
        )
            ->check(
                [](const std::string& given) {
                    return parse_hours(given) ? std::string{} : given + " is not hours: 72h or 3d";
                },
                "AGE"
            );
    };
    add("--keep-keys", service.keep_keys, "How long the answer of a key is kept; default: 72h");
    add("--keep-expired",
        service.keep_expired,
        "How long an expired key still answers 410; default: 400d");
}

}  // namespace pawl
