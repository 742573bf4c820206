#pragma once

#include <pawl/http_limits.hpp>
#include <pawl/request_head.hpp>

#include "src/base/remark.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::http {

using namespace std::chrono_literals;

struct Request {
    RequestHead head;
    std::string body;
};

// Date, Content-Length and Connection are the listener's own; all else is said here.
struct Reply {
    int status{200};
    std::vector<Header> headers{};
    std::string body{};
};

// Gives the one reply to one request, from any thread, at once or later; a second call is a bug
// (assertion). A Responder that is destroyed without a call answers 500. It may outlive the
// connection and the Listener: then the call does nothing.
class Responder {
public:
    struct Exchange;
    explicit Responder(std::shared_ptr<Exchange> exchange);
    Responder(Responder&&) noexcept;
    Responder& operator=(Responder&&) noexcept;
    ~Responder();
    void operator()(Reply reply);

private:
    std::shared_ptr<Exchange> exchange_;  // Shared with the connection, which may be gone first.
};

struct ListenerOptions {
    std::string listen{
        "127.0.0.1:8080"};  // host:port; port 0 takes a free one. IPv6 as [::1]:8080.
    HttpLimits limits{};
    std::chrono::milliseconds drain_early{
        2s};                    // After an early 4xx the rest of the body is read this long.
    int connections_max{4096};  // For one more, the one that has waited the longest is closed.
    int connections_per_address_max{0};  // One more is closed at once; 0: no limit.
    int threads{1};                      // Each serves its own connections.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// An HTTP/1.1 server that knows nothing of keys: strict parsing, limits, time-outs, keep-alive.
class Listener {
public:
    // Asked when the head has arrived and before the body is read: a reply here refuses the request
    // (the rest is drained). Called on the listener's threads, several at once; must not block.
    using OnHead = std::function<std::optional<Reply>(const RequestHead&)>;
    // The whole request. Called on the listener's threads, several at once; must not block.
    using OnRequest = std::function<void(Request, Responder)>;
    // Makes the body of an error which the listener itself answers (400, 408, 413, 414, 431, 501,
    // 503, 505).
    using OnError = std::function<Reply(int status, std::string_view why)>;

    struct Handlers {
        OnHead on_head;
        OnRequest on_request;
        OnError on_error;
        std::function<std::string()>
            date;  // For the Date header (RFC 9110, 5.6.7); asked twice a second at most.
        // How large the body of this request may be, if that is less than limits.body_max; may be
        // empty. Asked behind on_head.
        std::function<std::size_t(const RequestHead&)> body_max{};
        // What an operator should know; may be empty. On the listener's threads.
        base::OnRemark on_remark{};
    };

    // Binds and listens at once; throws std::system_error that names the address. Serves from
    // start() on.
    Listener(const ListenerOptions& options, const Handlers& handlers);
    // Stops at once. Waits for a handler of the application that has not returned.
    ~Listener();

    void start();
    std::uint16_t port() const;
    // Runs f on the listener's first thread, after `wait`. For attached waiters and their
    // deadlines.
    void after(std::chrono::milliseconds wait, std::function<void()> f);
    // Takes no new connection, lets requests in hand be answered for at most `drain`, then closes
    // all. Returns after at most `drain` and 2 s, whatever a thread does: false if a handler still
    // holds one.
    bool stop(std::chrono::milliseconds drain);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::http
