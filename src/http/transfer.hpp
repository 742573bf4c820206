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
struct OutgoingRequest {
    std::string method{"GET"};
    std::string url{};
    std::vector<Header> headers{};
    std::string body{};
    std::chrono::milliseconds connect_timeout{5s};
    std::chrono::milliseconds timeout{30s};  // For the whole exchange.
    std::size_t answer_max{4UL * 1024 * 1024};
    // libcurl sends a request again by itself when a *reused* connection ends without an answer
    // byte. That second sending is cut off, and the request is lost. A request that must never be
    // repeated has a fresh connection instead, which is not kept (docs/design.md, part 4).
    bool fresh_connection{false};
    // Refuses an address of a private network or of this machine, after its name was resolved and
    // before a connection is opened: for a URL that another party has chosen.
    bool public_only{false};
    // Asked on the transfer's thread when the request is about to leave: false ends it as NotSent.
    std::function<bool()> may_send{};
};

// Why the request can never be sent: a line end in it would let its author add a header.
std::optional<std::string> problem_of(const OutgoingRequest& request);

// The first header of this name; case does not count.
std::optional<std::string_view> first_header(
    const std::vector<Header>& headers, std::string_view name
);

struct IncomingResponse {
    int status{};
    std::vector<Header> headers;
    std::string body;
    std::optional<std::string_view> header(std::string_view name
    ) const;  // The first of this name; case does not count.
};

// Proof that no byte of the request left this process: libcurl never began to send it:
// refused, unresolved, timed out while connecting, without TLS, malformed or stopped.
struct NotSent {
    std::string why;
    bool hopeless{false};  // The request itself is at fault: a repeat will not be sent either.
};

// Some of it was sent, and no whole response came.
struct Lost {
    std::string why;
};

using Sent = std::variant<IncomingResponse, NotSent, Lost>;

// Outgoing HTTP: libcurl's multi interface on one thread of its own. All members may be
// called from any thread.
class Transfers {
public:
    // At most so many connections are open or kept at once, in total.
    explicit Transfers(int connections_max = 256);
    ~Transfers();  // Exchanges in flight end as Lost or NotSent.

    // Block until the exchange has ended; a stop request ends it at once.
    Sent perform(OutgoingRequest request, std::stop_token stop = {});
    void start(
        OutgoingRequest request, std::function<void(Sent)> done
    );  // `done` runs on the transfer thread.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::http
