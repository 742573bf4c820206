#pragma once

#include <pawl/http_limits.hpp>
#include <pawl/request_head.hpp>

#include "src/base/warning.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pawl::http {

using namespace std::chrono_literals;

struct Request {
    RequestHead head;
    std::string body;
};

// A handler sets all but Date, Content-Length and Connection, which the listener sets.
struct Reply {
    int status{200};
    std::vector<Header> headers{};
    std::string body{};
};

// Sends the one reply to one request, from any thread, now or later; a second call is a bug
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
    std::shared_ptr<Exchange> exchange_;  // Shared with the connection, which may end first.
};

struct ListenerOptions {
    std::string listen{"127.0.0.1:8080"};  // host:port; port 0 uses a free one. IPv6 as [::1]:8080.
    HttpLimits limits{};
    int connections_max{4096};  // Beyond it, each new one closes the one that has waited longest.
    int connections_per_address_max{0};          // Any more are closed at once; 0: no limit.
    std::vector<std::string> trusted_proxies{};  // As HttpOptions has them.
    int threads{1};                              // Each serves its own connections.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// An HTTP/1.1 server without idempotency keys: strict parsing, limits, time-outs, keep-alive.
class Listener {
public:
    // Called with the whole request, on the listener's threads, several at once; must not block.
    using OnRequest = std::function<void(Request, Responder)>;
    // A request whose body is read and which is then served.
    struct Accepted {
        OnRequest on_request;
        std::optional<std::size_t> body_max{};  // If less than limits.body_max.
    };
    // Called after the head and before the body is read: a reply refuses the request (the rest is
    // drained). On the listener's threads, several at once; must not block.
    using Decision = std::variant<Reply, Accepted>;
    using OnHead = std::function<Decision(const RequestHead&)>;
    // Serves every request.
    static OnHead accept_all(OnRequest on_request);
    // Makes an error response of the listener itself (400, 408, 413, 414, 431, 501, 503, 505). The
    // head has the addresses, and the rest only if it was well-formed and complete.
    using OnError = std::function<Reply(int status, std::string_view why, const RequestHead& head)>;

    struct Handlers {
        OnHead on_head;
        OnError on_error;
        std::function<std::string()>
            date;  // For the Date header (RFC 9110, 5.6.7); called twice a second at most.
        // Receives warnings for operators; may be empty. On the listener's threads.
        base::OnWarning on_warning{};
    };

    // Binds and listens at once; throws std::system_error that names the address. Serves after
    // start().
    Listener(const ListenerOptions& options, const Handlers& handlers);
    // Stops at once. Waits for handlers of the application that have not returned.
    ~Listener();

    void start();
    std::uint16_t port() const;
    // Runs f on the listener's first thread after `wait`.
    void after(std::chrono::milliseconds wait, std::function<void()> f);
    // Accepts no new connection, lets requests in flight be answered for at most `drain`, then
    // closes all. Returns after at most `drain` and 2 s; false if a handler still holds a thread.
    bool stop(std::chrono::milliseconds drain);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::http
