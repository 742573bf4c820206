#pragma once

#include <pawl/http.hpp>
#include <pawl/service.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl {

struct OperatorOptions {
    // host:port, such as 127.0.0.1:8081; port 0 uses a free one. Who reaches it can read the
    // metrics, so keep it on loopback or in a private network. Empty: run_until_signal() makes no
    // operator's listener.
    std::string listen{};
    // How long the server goes on serving after SIGTERM, while /readyz says 503: the time that a
    // load balancer needs to send it no more requests. At most 10 min.
    std::chrono::milliseconds pre_stop_delay{0};
    // Free bytes of the file system of a SQLite database, below which the server is not ready.
    std::uint64_t disk_free_min{16UL * 1024 * 1024};
    // The file of those who may use the page: a line is NAME ROLE TOKEN, where the role is viewer,
    // operator or admin (docs/howto/page.md). Only its owner may read it. Empty: no page.
    std::string operators_file{};
    // Instead of tokens: the header in which a proxy names the operator, such as X-Forwarded-User.
    // It counts from `proxies` only.
    std::string user_header{};
    // As HttpOptions::trusted_proxies: from them Forwarded and X-Forwarded-For count, too.
    std::vector<std::string> proxies{};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// The operator's listener of a service, on an address and a thread of its own, so that no number of
// clients keeps it from answering. Without credentials:
//
//   /livez     200 while the process answers
//   /startupz  200 after the start
//   /readyz    200 if the server can serve requests now, else 503; both with the checks as JSON
//   /metrics   for Prometheus, in its text format or as OpenMetrics (docs/metrics.md)
//   /version   of the library, as JSON
//
// All other paths are the page and its API, for the operators of operators_file.
class OperatorServer {
public:
    // Listens at once, and counts what the service does from now on. Make it when the service has
    // its operations and before Service::start(); it must end before the service. Throws
    // std::invalid_argument (options), std::system_error (address), std::logic_error (the service
    // has started).
    OperatorServer(Service& service, OperatorOptions options);
    ~OperatorServer();  // Stops at once.

    // Answers; `started` and `stopping` are what /startupz and /readyz say from then on.
    void start();
    void set_started();
    void set_stopping();
    std::uint16_t port() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// run_until_signal() of pawl/http.hpp with an operator's listener, which answers before the service
// starts and until it has ended. After the first SIGINT or SIGTERM both serve on for
// pre_stop_delay; a second one ends that wait. Throws what OperatorServer's constructor throws.
int run_until_signal(Service& service, HttpServer& server, const OperatorOptions& operators);

}  // namespace pawl
