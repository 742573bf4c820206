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
    int at_once{8};  // Requests in hand; at most as many of another process beside this one.
    std::chrono::milliseconds every{500};  // Looks for what is due.
    std::chrono::milliseconds wait_first{
        5'000};  // After a client that gave up; then twice as long,
    std::chrono::milliseconds wait_longest{3'600'000};  // up to this. By chance up to a half less.
    // After its first sending that the server may know of; then it is for people: ended with
    // GaveUp, in doubt. Less than the server remembers keys: a repeat after that would be a new
    // request. What was never carried out, with proof, is sent for as long as it takes.
    std::chrono::hours give_up_after{20};
    // What was answered is known for so long: put() again does nothing.
    std::chrono::hours keep{72};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// How a request of the outbox has ended.
struct OutboxEnd {
    ClientKey key;
    ClientRequest request;
    ClientEnd end;   // GaveUp only after `give_up_after`.
    int attempts{};  // Each with the tries of the client.
};

// Requests to another server that are decided on in a transaction of one's own: stored with their
// keys in it, and sent when it has committed, whatever dies in between (the "transactional outbox":
// Richardson, Microservices Patterns, 3.2.6). From any number of processes on PostgreSQL, from the
// one that serves a SQLite file; each request goes under its one key, so that the other server sees
// it once. Thread-safe.
class Outbox {
public:
    // In the transaction that ends the request here, so that what it writes is written once. It may
    // run again, as any phase. If it throws, the request is sent again later, and its repeat gets
    // the stored answer.
    using OnEnd = std::function<void(Tx&, const OutboxEnd&)>;

    // Makes its table (by migrations of the owner "pawl-outbox") if need be. Database and client
    // outlive it. Throws std::invalid_argument for options, StoreError.
    Outbox(Database& database, Client& client, OnEnd on_end, OutboxOptions options = {});
    ~Outbox();  // Stops.

    // For a process that only puts, or before the first Outbox is made.
    static void migrate(Database& database);

    // Stores a request under a new key, which it returns, and which is random.
    static ClientKey put(Tx& tx, const ClientRequest& request);
    // Under this key to this target. The same again changes nothing: false. Throws
    // std::logic_error if another request to the target is there under the key,
    // std::invalid_argument for what can't be stored or sent: no UTF-8, a NUL, a control character
    // in a header, a target of more than 2,000 bytes or a body of more than 1 MiB. To another
    // target the key is another's: who gives a server a new address ends what waits for the old one
    // first.
    static bool put(Tx& tx, const ClientRequest& request, const ClientKey& key);

    // The same as text for whoever has no Tx but a transaction on this database by another library:
    // one statement, with $1, $2, ... for the values, all of them text. Changes no row if the key
    // is there already.
    struct Insert {
        std::string sql;
        std::vector<std::string> values;
    };
    enum class Dialect { sqlite, postgres };
    static Insert insert_of(const ClientRequest& request, const ClientKey& key, Dialect dialect);

    // Sends from now on, on a thread of its own, until stop().
    void start();
    // What is in hand is waited for, at most as long as the client's deadline.
    void stop();
    // Sends what is due at this moment and waits for it; how many requests. For tests, and for a
    // process that is started now and then. Throws StoreError, std::logic_error beside start().
    int send_due();

    struct Waiting {
        std::int64_t waiting{};             // In all.
        std::int64_t gave_up{};             // And for people.
        std::optional<TimePoint> oldest{};  // Of those that wait.
    };
    Waiting waiting();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
