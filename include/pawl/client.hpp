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

// The caller's side: requests that are repeated while that is safe and may help.
// docs/howto/client.md
namespace pawl {

// A key that a crash of this process does not take along, so that the repeat after it carries the
// same: whoever makes a new one then, charges twice. Hence a POST takes none that is a mere string.
class ClientKey {
public:
    // It is in your own storage, committed, or can be made again from what is. Throws
    // std::invalid_argument unless it is 1 to 255 visible ASCII characters without " , ; \.
    static ClientKey saved(std::string text);

    const std::string& text() const { return text_; }
    friend bool operator==(const ClientKey&, const ClientKey&) = default;

private:
    explicit ClientKey(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

// The key of what is done once with one thing: entity_key("payment", "1234", "refund"). Nothing
// need be saved, as it can be made again; and two people who refund the same payment send the same
// key. For that the server must look keys up by tenant and not by account: `scope = tenant` of an
// operation of Pawl's. Characters but letters, digits, `-`, `_`, `.` and `~` are written as %XX, so
// that different things never have one key. Throws std::invalid_argument if a part is empty, or all
// of it longer than 255 characters.
ClientKey entity_key(std::string_view kind, std::string_view id, std::string_view action);
ClientKey entity_key(std::string_view kind, std::int64_t id, std::string_view action);

struct ClientRequest {
    std::string method{"GET"};
    std::string target{};  // Behind ClientOptions::url: "", "/rides", "?a"; or a whole URL.
    std::vector<Header> headers{};
    std::string body{};
    // Of a body, unless the headers have one.
    std::string content_type{"application/json"};
};

// The server's last word, whatever its status.
struct Answered {
    int status{};
    std::vector<Header> headers{};
    std::string body{};
    int tries{};
    // An earlier try may have been carried out, and this answer does not tell: a 401 after a lost
    // one.
    bool in_doubt{};
    bool replayed{};  // Idempotent-Replayed: the stored answer of an earlier try.

    std::optional<std::string_view> header(std::string_view name
    ) const;  // The first, without case.
};
// No answer. Not in doubt: nothing was done, with proof. In doubt: ask again under the same key.
struct GaveUp {
    bool in_doubt{};
    int tries{};
    std::string why{};  // For operators.
};
using ClientEnd = std::variant<Answered, GaveUp>;

// How long to wait before a repeat.
enum class Backoff {
    decorrelated,  // `wait_first` to three times the wait before (AWS's "decorrelated jitter").
    full,          // 0.1 s to the doubled wait (AWS's "full jitter", with a floor).
    stripe  // The formula of Stripe's clients: half to all of the doubled wait. Theirs has no
            // jitter before the first repeat; this has.
};

// What one try came to, and what follows.
struct ClientTry {
    int number{};        // 1, 2, ...
    std::string what{};  // "answered 503", "not sent: ...", "lost: ..."
    std::chrono::milliseconds took{};
    std::optional<std::chrono::milliseconds> again_in{};  // Nothing: it was the last.
};

struct ClientOptions {
    std::string url{};  // http:// or https://, put before the target: "https://api.example.com/v1".
    // With each request: credentials. With `url`, only with those to its server.
    std::vector<Header> headers{};

    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds timeout{30'000};   // Of one try.
    std::chrono::milliseconds deadline{60'000};  // Of all tries and waits of a request together.
    std::size_t answer_max{4UL * 1024 * 1024};   // Bytes; a longer one is lost.

    // False: each request is tried once, whatever the try comes to. For a foreign call, which the
    // service repeats itself.
    bool repeats{true};
    // What may have been sent, in all. Tries that were not sent, and those that hear that an
    // earlier one is in progress, cost none.
    int tries_max{3};
    Backoff backoff{Backoff::decorrelated};
    std::chrono::milliseconds wait_first{500};
    std::chrono::milliseconds wait_longest{20'000};
    std::chrono::milliseconds retry_after_max{30'000};  // A server that asks for an hour gets this.

    // Of all repeats to one server (scheme, host and port): a tenth of the successes and one a
    // second, ten at once. 1e6 a second is as good as no budget.
    double budget_each_success{0.1};
    double budget_per_s{1};
    int budget_burst{10};
    // After so many failures in a row nothing is sent to that server for `breaker_first`, then one
    // probe, and twice as long after each that fails. 0: never.
    int breaker_failures{10};
    std::chrono::milliseconds breaker_first{1'000};
    std::chrono::milliseconds breaker_longest{30'000};

    int connections_max{256};
    // Told each try, before the next; on the thread that makes it. Quick; must not throw.
    std::function<void(const ClientTry&)> on_try{};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Sends requests and repeats them: with the same bytes and key, only while a repeat is safe (a key,
// or a method that is idempotent: RFC 9110, 9.2.2; or proof that nothing was sent), within a total
// deadline, a budget and a breaker for each server. Retry-After is honoured and capped, 409
// `in-progress` waited for, 422 and what is stored never repeated. An Idempotency-Key among the
// headers is std::invalid_argument: a key is given as a ClientKey. Thread-safe.
class Client {
public:
    // Throws std::invalid_argument for options with a problem.
    explicit Client(ClientOptions options);
    ~Client();  // What is in hand ends, GaveUp; callbacks have run when it returns.

    // Block until the end; a stop that is asked for is one, at once.
    ClientEnd perform(
        const ClientRequest& request, const ClientKey& key, std::stop_token stop = {}
    );
    ClientEnd get(std::string target, std::stop_token stop = {});
    ClientEnd put(std::string target, std::string body, std::stop_token stop = {});
    ClientEnd del(std::string target, std::stop_token stop = {});
    ClientEnd post(
        std::string target, std::string body, const ClientKey& key, std::stop_token stop = {}
    );
    // A POST that may be repeated needs a ClientKey; one that must not be is send_once().
    ClientEnd post(std::string target, std::string body, std::stop_token stop = {}) = delete;
    ClientEnd post(std::string, std::string, const std::string& key, std::stop_token = {}) = delete;

    // Without a key: what is idempotent is repeated, a POST or PATCH only on proof that nothing was
    // sent. GaveUp in doubt is then for a person.
    ClientEnd send_once(const ClientRequest& request, std::stop_token stop = {});

    // In a foreign call of an operation: under its key, until its stop.
    ClientEnd perform(const KeyedCall& call, const ClientRequest& request);

    // The same without blocking: `done` runs once, on a thread of the client's, or here if nothing
    // can be sent at all. Quick; must not throw.
    void start(
        const ClientRequest& request, const ClientKey& key, std::function<void(ClientEnd)> done
    );

    const ClientOptions& options() const;
    struct Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
