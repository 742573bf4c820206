#pragma once

#include <pawl/browser.hpp>
#include <pawl/http_limits.hpp>
#include <pawl/request_head.hpp>
#include <pawl/service.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl {

// What each tenant may ask of one server; more is 429 with Retry-After. All requests with a route
// count, repeats and queries too: docs/http.md. A principal without a tenant is counted by account.
struct TenantQuota {
    // Requests at work at once; 0: any number. Not set: half of ServiceOptions::calls_max and at
    // least 16, so that nobody alone holds every thread for calls; any number if all are anonymous.
    std::optional<int> in_hand_max{};
    // Requests of one account of a tenant at work at once; 0: any number. Not set: half of what its
    // tenant may have, so that one account can't shut out the others.
    std::optional<int> account_in_hand_max{};
    // Requests a second, over time; 0: any number, as only the application knows what is much.
    double rate_per_s{0};
    // So many may come at once after a pause; not set: those of a second.
    std::optional<int> burst{};

    std::optional<std::string> problem() const;
};

struct HttpOptions {
    std::string listen{"127.0.0.1:8080"};
    // Who asks; nothing: 401, before anything else is looked at. On the server's threads, several
    // at once: quick, no waiting.
    std::function<std::optional<Principal>(const RequestHead&)> authenticate{};
    std::string realm{"pawl"};   // What a 401 says the credentials are for.
    bool anonymous{false};       // Serve without authenticate: all clients share one account.
    int key_reused_status{422};  // Same key, other request: 422, 409 or 400.
    std::string access_log{};    // A file of JSON lines; "-" is standard error, empty none.
    // Open connections. For one more, the one that has been without a request for the longest time
    // is closed. Less if the process may not have so many descriptors: PAWL0014.
    int connections_max{4096};
    // Of one client address (of IPv6: one network of 64 bits); one more is closed at once. 0: no
    // limit, as it must be behind a proxy, whose address all connections have.
    int connections_per_address_max{1024};
    int threads{0};       // For connections; 0: as many as there are cores, at most 4.
    HttpLimits limits{};  // Of a request on its way, and of a connection.
    TenantQuota quota{};
    BrowserOptions browser{};  // Pages and forms; without a word there are none.

    std::optional<std::string> problem() const;
};

// The HTTP contract over a Service: keys, replays, problems (RFC 9457). docs/http.md.
class HttpServer {
public:
    // Listens at once. Throws std::invalid_argument for options, std::system_error for the address.
    HttpServer(Service& service, HttpOptions options);
    // What is in hand goes on, and is the service's; its answers reach nobody any more.
    ~HttpServer();

    // Routes: "/rides/{id}"; the fields of the request come from path, query and body. Before
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
            add_query(route, query_form<Q>(std::make_shared<Q>(std::move(query))));
    }

    // A page for anybody: no credentials, no key, no quota and no database; of `browser` nothing
    // but `present` is asked. Before start(). On the server's threads, several at once: quick, no
    // waiting. "GET" serves HEAD too.
    void open(std::string_view method, const std::string& route, OpenPage page);

    void start();
    std::uint16_t port() const;
    // Takes no new connection and lets requests in hand be answered for at most `drain`. Returns
    // after at most `drain` and 2 s: false if code of the application (authenticate, a page) has
    // not returned and holds a thread of the server. Then end the process; the destructor waits.
    bool stop(std::chrono::milliseconds drain);
    // New files under the same names, where those that are open were renamed: logrotate. From any
    // thread.
    void reopen_logs();

    // A query without its types.
    struct QueryForm {
        std::string_view name;
        std::shared_ptr<void> query;
        std::variant<detail::Anything, DecodeProblem> (*request)(const detail::RequestFields&){};
        Response (*answer
        )(void* query, Snapshot& read, Principal, std::string origin, const void* request){};
    };

private:
    template <class Q>
    static QueryForm query_form(std::shared_ptr<Q> query) {
        using Request = typename detail::AnswerForm<decltype(&Q::answer)>::Request;
        return {
            .name = Q::name,
            .query = std::move(query),
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
    void add_query(std::string route, QueryForm form);

    struct Impl;
    std::shared_ptr<Impl> impl_;  // Shared with the requests in hand, which may outlive the server.
};

// Blocks SIGINT, SIGTERM and SIGHUP on this thread and on those that it makes from now on. First
// thing in main(): a thread that does not block them would end the process.
void block_end_signals();
// Waits for SIGINT or SIGTERM, and returns it. At each SIGHUP meanwhile it calls `on_hangup`.
int wait_for_end_signal(const std::function<void()>& on_hangup = {});

// Starts both, waits for SIGINT or SIGTERM (at SIGHUP the server's logs are reopened), drains for
// at most ServiceOptions::drain_time(), returns the exit code.
int run_until_signal(Service& service, HttpServer& server);

}  // namespace pawl
