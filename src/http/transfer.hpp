#pragma once

#include <pawl/request_head.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::http {

using namespace std::chrono_literals;

// One exchange with a server, tried once: no retry, no redirect.
struct Outgoing {
    std::string method{"GET"};
    std::string url{};
    std::vector<Header> headers{};
    std::string body{};
    std::chrono::milliseconds connect_timeout{5s};
    std::chrono::milliseconds timeout{30s};  // For the whole exchange.
    std::size_t answer_max{4UL * 1024 * 1024};
    // libcurl sends a POST again by itself when a *reused* connection ends without an answer byte.
    // Where that matters (a call that must never be repeated) a fresh connection is used and not
    // kept: design.md part 4. A second sending would be cut off besides.
    bool never_resend{false};
};

// Why it can never be sent: a line end in it would let whoever chose it write a header.
std::optional<std::string> problem_of(const Outgoing& request);

// The first of this name, without case.
std::optional<std::string_view> first_header(
    const std::vector<Header>& headers, std::string_view name
);

struct Arrived {
    int status{};
    std::vector<Header> headers;
    std::string body;
    std::optional<std::string_view> header(std::string_view name
    ) const;  // The first of this name, without case.
};

// Proof that no byte of the request left this process: libcurl never came to the point of sending
// it, be it refused, unresolved, out of time while connecting, without TLS, malformed or stopped.
struct NotSent {
    std::string why;
    bool hopeless{false};  // It is of the request itself: no repeat will be sent either.
};

// Some of it was sent, and no whole answer came.
struct Lost {
    std::string why;
};

using Sent = std::variant<Arrived, NotSent, Lost>;

struct TransferOptions {
    int connections_max{256};  // Open at once, in all.
    int connections_kept_max{256};
    std::optional<std::string> problem() const;
};

// Outgoing HTTP: libcurl's multi interface on one thread of its own. All members may be
// called from any thread.
class Transfers {
public:
    explicit Transfers(TransferOptions options = {});
    ~Transfers();  // What is in hand ends as Lost or NotSent.

    // Block until the exchange has ended; a stop that is asked for ends it at once.
    Sent perform(Outgoing request, std::stop_token stop = {});
    void start(
        Outgoing request, std::function<void(Sent)> done
    );  // `done` runs on the transfer thread.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::http
