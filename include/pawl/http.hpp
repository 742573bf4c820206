#pragma once

#include <pawl/browser.hpp>
#include <pawl/http_limits.hpp>
#include <pawl/request_head.hpp>
#include <pawl/service.hpp>
#include <pawl/webhook.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl {

// Limits of one tenant on one server; beyond them 429 with Retry-After. All requests with a route
// count, also repeats and queries (docs/http.md). A principal without a tenant is counted by
// account.
struct TenantQuota {
    // Concurrent requests; 0: unlimited. nullopt: half of ServiceOptions::calls_max and at least
    // 16, so that no tenant holds every thread for calls; unlimited if all are anonymous.
    std::optional<int> in_flight_max{};
    // Concurrent requests of one account of a tenant; 0: unlimited. nullopt: half of its tenant's
    // limit, so that one account can't shut out the others.
    std::optional<int> account_in_flight_max{};
    // Requests a second, on average; 0: unlimited, as only the application knows a limit.
    double rate_per_s{0};
    // Requests at once after a pause; nullopt: those of a second.
    std::optional<int> burst{};

    std::optional<std::string> problem() const;
};

struct HttpOptions {
    std::string listen{"127.0.0.1:8080"};
    // Returns who sends the request; nullopt: 401, before anything else is checked. Called on the
    // server's threads, concurrently; must not block.
    std::function<std::optional<Principal>(const RequestHead&)> authenticate{};
    std::string realm{"pawl"};   // What a 401 says the credentials are for.
    bool anonymous{false};       // Serve without authenticate: all clients share one account.
    int key_reused_status{422};  // For the same key with another request: 422, 409 or 400.
    std::string access_log{};    // A file of JSON lines; "-": standard error; empty: none.
    // Open connections. One more closes the connection that was idle for the longest time. Reduced
    // if the process may not open so many descriptors (PAWL0014).
    int connections_max{4096};
    // Connections of one client address (IPv6: of one /64 network); one more is closed at once. 0:
    // unlimited. Those of a trusted proxy are not counted.
    int connections_per_address_max{1024};
    // Addresses and networks ("10.0.0.5", "10.1.0.0/16") of the proxies whose Forwarded (RFC 7239)
    // and X-Forwarded-For name the client; nobody else's count. docs/http.md, "Behind a proxy".
    std::vector<std::string> trusted_proxies{};
    int threads{0};       // For connections; 0: one for each core, at most 4.
    HttpLimits limits{};  // For a request being received, and for a connection.
    TenantQuota quota{};
    BrowserOptions browser{};  // Pages and forms; off by default.

    std::optional<std::string> problem() const;
};

// The HTTP contract over a Service: keys, replays, problems (RFC 9457). docs/http.md.
class HttpServer {
public:
    // Listens at once. Throws std::invalid_argument (options), std::system_error (address).
    HttpServer(Service& service, HttpOptions options);
    // Running requests go on in the service, but their answers are not delivered.
    ~HttpServer();

    // Adds a route: "/rides/{id}"; the request's fields come from path, query and body. Call before
    // start(). Throws std::invalid_argument if the service does not have the operation.
    template <class Op>
    void post(const std::string& route) {
        add_route("POST", route, Op::name);
    }
    template <class Op>
    void put(const std::string& route) {
        add_route("PUT", route, Op::name);
    }
    template <class Op>
    void del(const std::string& route) {
        add_route("DELETE", route, Op::name);
    }
    template <class Q>
    void get(const std::string& route, Q query) {
        static_assert(
            Query<Q>,
            "pawl: a query is a class with a name and one member function Response "
            "answer(Snapshot&, const Asked<Request>&)"
        );
        if constexpr (Query<Q>)
            add_query(route, erase_query<Q>(std::make_shared<Q>(std::move(query))));
    }

    // Adds a page without credentials, key, quota or database; of `browser` only `present` is
    // called. A request with a bearer token or a JSON body gets 404. Call before start(). `page`
    // runs on the server's threads, concurrently, and must not block. "GET" serves HEAD too.
    void public_page(std::string_view method, const std::string& route, PublicPage page);

    // Adds a POST without credentials, key and quota, for deliveries whose signature `receive`
    // checks. It runs on the server's threads, concurrently, and must not block: Service::run() has
    // a form that doesn't. A body beyond `body_max` or HttpLimits::body_max gets 413. Call before
    // start().
    void webhook(const std::string& route, Webhook receive, std::size_t body_max = 256UL * 1024);

    void start();
    std::uint16_t port() const;
    const HttpOptions& options() const;
    // An OpenAPI 3.1 document of the routes of operations and queries, as JSON.
    std::string openapi(std::string_view title, std::string_view version) const;
    // Accepts no new connections and waits at most `drain` for running requests. Returns after at
    // most `drain` and 2 s. False: code of the application (authenticate, a page) still runs on a
    // thread of the server. Then end the process; the destructor would wait.
    bool stop(std::chrono::milliseconds drain);
    // Reopens log files that were renamed (logrotate). Thread-safe.
    void reopen_logs();

    // A query without its types.
    struct ErasedQuery {
        std::string_view name;
        std::shared_ptr<void> query;
        std::vector<std::string_view> headers;  // Those that the request asks for.
        std::vector<detail::FieldSchema> (*schema)(){};
        std::variant<detail::ErasedValue, DecodeProblem> (*request)(const detail::RequestFields&){};
        Response (*answer
        )(void* query, Snapshot& read, Principal, std::string origin, const void* request){};
    };

private:
    template <class Q>
    static ErasedQuery erase_query(std::shared_ptr<Q> query) {
        using Request = typename detail::AnswerSignature<decltype(&Q::answer)>::Request;
        return {
            .name = Q::name,
            .query = std::move(query),
            .headers = detail::header_names<Request>(),
            .schema = &detail::request_schema<Request>,
            .request = &detail::request_of<Request>,
            .answer = [](void* q,
                         Snapshot& read,
                         Principal principal,
                         std::string origin,
                         const void* request) {
                return static_cast<Q*>(q)->answer(
                    read,
                    Asked<Request>{
                        std::move(principal), std::move(origin), detail::as<Request>(request)}
                );
            }};
    }
    void add_route(std::string_view method, std::string route, std::string_view operation);
    void add_query(std::string route, ErasedQuery query);

    struct Impl;
    std::shared_ptr<Impl> impl_;  // Shared with running requests, which may outlive the server.
};

// Blocks SIGINT, SIGTERM and SIGHUP on this thread and on threads made later. Call it first in
// main(): a thread that does not block them would end the process.
void block_end_signals();
// Waits for SIGINT or SIGTERM, and returns it. Calls `on_hangup` at each SIGHUP meanwhile.
int wait_for_end_signal(const std::function<void()>& on_hangup = {});

// The exit code of a program whose stop has left code that ignores its stop (PAWL0031).
constexpr int exit_code_handler_left = 70;

// Starts both, waits for SIGINT or SIGTERM (SIGHUP reopens the server's logs), drains for at most
// ServiceOptions::drain_time(), returns the exit code 0. If something is left after that, it ends
// the process itself, as a thread can't be ended: with 0 if only calls are left that are within
// ServiceOptions::call_timeout, else with exit_code_handler_left, after a line `handler_left` each,
// or `io_thread_held`.
int run_until_signal(Service& service, HttpServer& server);

}  // namespace pawl
