#pragma once

#include <pawl/call.hpp>
#include <pawl/request_head.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The client's side: requests that are repeated while that is safe and may help.
// docs/howto/client.md
namespace pawl {

// A key that survives a crash of this process, so that the repeat after it carries the same key: a
// new key could charge twice. Therefore a POST does not accept a plain string.
class ClientKey {
public:
    // For a key that is committed to your own storage, or can be derived from it again. Throws
    // std::invalid_argument unless it is 1 to 255 visible ASCII characters without " , ; \.
    static ClientKey saved(std::string text);

    const std::string& text() const { return text_; }
    friend bool operator==(const ClientKey&, const ClientKey&) = default;

private:
    explicit ClientKey(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

// The key of an action that is done once for one entity: entity_key("payment", "1234", "refund").
// It need not be saved, as it can be derived again, and two people who refund the same payment send
// the same key. The server must look up such keys by tenant, not by account: `Scope::tenant` for
// an operation of Pawl. Characters other than letters, digits, `-`, `_`, `.` and `~` are written as
// %XX, so that different parts never give the same key. Throws std::invalid_argument if a part is
// empty, or the key is longer than 255 characters.
ClientKey entity_key(std::string_view kind, std::string_view id, std::string_view action);
ClientKey entity_key(std::string_view kind, std::int64_t id, std::string_view action);

struct ClientRequest {
    std::string method{"GET"};
    std::string target{};  // Appended to ClientOptions::url: "", "/rides", "?a"; or a whole URL.
    std::vector<Header> headers{};
    std::string body{};
    // Of the body, unless the headers have one.
    std::string content_type{"application/json"};
};

// The server's final answer, whatever its status.
struct Answered {
    int status{};
    std::vector<Header> headers{};
    std::string body{};
    int tries{};
    // An earlier try may have been carried out, and this answer does not show it: for example a 401
    // after a lost answer.
    bool in_doubt{};
    bool replayed{};  // Idempotent-Replayed: the stored answer of an earlier try.

    std::optional<std::string_view> header(std::string_view name
    ) const;  // The first of that name, ignoring case.
};
// No answer. Not in doubt: it is proven that nothing was done. In doubt: ask again with its key.
struct GaveUp {
    bool in_doubt{};
    int tries{};
    std::string why{};  // For operators.
};
using ClientResult = std::variant<Answered, GaveUp>;

// How the wait before a repeat grows.
enum class Backoff {
    decorrelated,  // `wait_first` to three times the previous wait (AWS's "decorrelated jitter").
    full,          // 0.1 s to the doubled wait (AWS's "full jitter", with a minimum).
    // Half to all of the doubled wait, as in Stripe's clients. Theirs have no jitter before the
    // first repeat; this has.
    stripe
};

// The result of one try, and what follows.
struct ClientTry {
    int number{};        // 1, 2, ...
    std::string what{};  // "answered 503", "not sent: ...", "lost: ..."
    std::chrono::milliseconds took{};
    std::optional<std::chrono::milliseconds> again_in{};  // nullopt: it was the last try.
};

struct ClientOptions {
    std::string url{};  // http:// or https://, prefixed to targets: "https://api.example.com/v1".
    // Sent with each request, for example credentials. With `url`, only to its server.
    std::vector<Header> headers{};

    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds timeout{30'000};   // For one try.
    std::chrono::milliseconds deadline{60'000};  // For all tries and waits of a request.
    std::size_t answer_max{4UL * 1024 * 1024};   // Bytes; a longer answer counts as lost.

    // Tries that may have reached the server. Tries that were not sent, or were answered that an
    // earlier one is in progress, do not count.
    int tries_max{3};
    Backoff backoff{Backoff::decorrelated};
    std::chrono::milliseconds wait_first{500};
    std::chrono::milliseconds wait_max{20'000};
    std::chrono::milliseconds retry_after_max{30'000};  // Limits a server that asks for an hour.

    // Retry budget for each server (scheme, host and port): a tenth of the successes plus one a
    // second, ten at once. 1e6 a second is practically unlimited.
    double budget_each_success{0.1};
    double budget_per_s{1};
    int budget_burst{10};
    // After so many failures in a row nothing is sent to that server for `breaker_first`, then one
    // probe; the time doubles after each failed probe. 0: never.
    int breaker_failures{10};
    std::chrono::milliseconds breaker_first{1'000};
    std::chrono::milliseconds breaker_wait_max{30'000};

    int connections_max{256};
    // Sends nothing to an address of a private network or of this machine: for URLs that others
    // choose, such as receivers of webhooks. Checked after the name was resolved.
    bool public_addresses_only{false};
    // Called after each try and before the next, on the thread of the try. Must be quick and not
    // throw.
    std::function<void(const ClientTry&)> on_try{};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Sends requests and repeats them with the same bytes and key, while a repeat is safe (a key, an
// idempotent method as of RFC 9110, 9.2.2, or proof that nothing was sent), within a total
// deadline, and a budget and a circuit breaker for each server. Honours Retry-After up to a limit,
// waits for 409 `in-progress`, and never repeats 422 or stored answers. An Idempotency-Key among
// the headers is std::invalid_argument: pass a ClientKey. Thread-safe.
//
// Within a Service use only the members that take the step's Call. They try once, as the service
// repeats the call itself, by what it has on record. The others are for programs without a Service.
// Each of them ends the process if its thread is in a transaction.
class Client {
public:
    // Throws std::invalid_argument if the options have a problem().
    explicit Client(ClientOptions options);
    ~Client();  // Ends running requests with GaveUp; all callbacks have returned after it.
    Client(Client&&) noexcept;  // Of a client that was moved from, only these may be called.
    Client& operator=(Client&&) noexcept;

    // In a foreign call or a job: one try under the call's key, which ends with the call's stop.
    // pawl::outcome() makes the call's Outcome of it, pawl::job_result() a job's result.
    ClientResult perform(const KeyedCall& call, const ClientRequest& request);
    // The same under a key of one's own, and without a key.
    ClientResult perform(const Call& call, const ClientRequest& request, const ClientKey& key);
    ClientResult send_once(const Call& call, const ClientRequest& request);

    // Blocks until the end; a requested stop ends it at once.
    ClientResult perform(
        const ClientRequest& request, const ClientKey& key, std::stop_token stop = {}
    );
    ClientResult get(std::string target, std::stop_token stop = {});
    ClientResult put(std::string target, std::string body, std::stop_token stop = {});
    ClientResult del(std::string target, std::stop_token stop = {});
    ClientResult post(
        std::string target, std::string body, const ClientKey& key, std::stop_token stop = {}
    );
    // A POST that may be repeated needs a ClientKey; for one that must not be, use send_once().
    ClientResult post(std::string target, std::string body, std::stop_token stop = {}) = delete;
    ClientResult post(std::string, std::string, const std::string& key, std::stop_token = {}) =
        delete;

    // Without a key: idempotent methods are repeated, POST and PATCH only with proof that nothing
    // was sent. GaveUp in doubt then needs a person.
    ClientResult send_once(const ClientRequest& request, std::stop_token stop = {});

    // Does not block: `done` runs once, on a thread of the client, or on this one if nothing can be
    // sent. It must be quick and must not throw.
    void start(
        const ClientRequest& request, const ClientKey& key, std::function<void(ClientResult)> done
    );

    const ClientOptions& options() const;
    struct Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
