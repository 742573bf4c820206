#pragma once

#include <pawl/client.hpp>
#include <pawl/database.hpp>
#include <pawl/tx.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl {

struct OutboxOptions {
    int at_once{8};                               // Concurrent requests of this process.
    std::chrono::milliseconds every{500};         // Polls for due requests.
    std::chrono::milliseconds wait_first{5'000};  // After the client gave up; doubles up to
    // this. A random part, up to half, is subtracted.
    std::chrono::milliseconds wait_max{3'600'000};
    // Counted from the first send that the server may know of. Then the request ends with GaveUp,
    // in doubt, and needs a person. Must be shorter than the server remembers keys, as a repeat
    // after that would be a new request. Without a possible effect there is no limit.
    std::chrono::hours give_up_after{20};
    // Answered requests are remembered this long: put() with their key does nothing.
    std::chrono::hours keep{72};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// How a request of the outbox has ended.
struct OutboxResult {
    ClientKey key;
    ClientRequest request;
    ClientResult end;  // GaveUp only after `give_up_after`.
    int attempts{};    // Sends; each includes the client's own tries.
};

// A transactional outbox (Richardson, Microservices Patterns, 3.2.6): requests to another server
// are stored with their keys in a transaction of the application, and sent after its commit,
// whatever crashes in between. On PostgreSQL any number of processes may send, on SQLite the one
// that serves the file. Each request keeps its one key, so that the other server carries it out
// once. Thread-safe.
class Outbox {
public:
    // Runs in the transaction that ends the request, so that its writes happen once. May run again,
    // as any phase. If it throws, the request is sent again later, and gets the stored answer.
    using OnEnd = std::function<void(Tx&, const OutboxResult&)>;

    // Creates its table (migrations of the owner "pawl-outbox") if it is missing. Database and
    // client outlive the outbox. Throws std::invalid_argument for the options, StoreError.
    Outbox(Database& database, Client& client, OnEnd on_end, OutboxOptions options = {});
    ~Outbox();  // Stops.

    // For a process that only puts, or before the first Outbox is made.
    static void migrate(Database& database);

    // Stores a request under a new random key, which it returns.
    static ClientKey put(Tx& tx, const ClientRequest& request);
    // Stores a request under `key`. Repeating it changes nothing: false. Throws std::logic_error if
    // another request to the target is stored under the key, and std::invalid_argument for what
    // can't be stored or sent: text that is not UTF-8, a NUL, a control character in a header, a
    // target of more than 2,000 bytes or a body of more than 1 MiB. The target is part of the key's
    // identity: before a server's address changes, let the requests to the old one finish.
    static bool put(Tx& tx, const ClientRequest& request, const ClientKey& key);

    // The same as one SQL statement with $1, $2, ... and their values, all of them texts, for a
    // transaction on this database by another library. Changes no row if the key is already there.
    struct Insert {
        std::string sql;
        std::vector<std::string> values;
    };
    enum class Dialect { sqlite, postgres };
    static Insert insert_of(const ClientRequest& request, const ClientKey& key, Dialect dialect);

    // Sends on a thread of its own until stop().
    void start();
    // Waits for requests in flight, at most as long as the client's deadline.
    void stop();
    // Sends the due requests and waits for them; returns how many. For tests, and for processes
    // that run now and then. Throws StoreError, and std::logic_error after start().
    int send_due();

    struct Waiting {
        std::int64_t waiting{};             // All that wait.
        std::int64_t gave_up{};             // Those that need a person.
        std::optional<TimePoint> oldest{};  // The oldest of those that wait.
    };
    Waiting waiting();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
