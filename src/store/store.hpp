#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>
#include <pawl/isolation.hpp>

#include "src/base/running_code.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::store {

using detail::Row;
using detail::Session;
using detail::Value;

// The work of one transaction. The store owns it from write() or read() until done() has returned.
class Work {
public:
    virtual ~Work() = default;
    // Runs on a store thread, in the transaction. If it throws, all its writes are rolled back. May
    // be called again with a fresh snapshot, after a serialization failure or deadlock, or if
    // another work in its shared transaction failed. Keep nothing from the earlier run.
    virtual void run(Session& session) = 0;
    // Called once, after the commit is durable (`failed` is null) or after the rollback. Must be
    // quick and only pass the result on.
    virtual void done(std::exception_ptr failed) noexcept = 0;
    // How long run() may take before it is interrupted and rolled back with StoreError (deadline),
    // as others wait behind it.
    virtual std::chrono::milliseconds deadline() const { return std::chrono::seconds{5}; }
    virtual Isolation isolation() const { return Isolation::read_committed; }
    // Works of one kind run the same code: what a store learns of one (it was slow) applies to the
    // others. nullptr: may not share a transaction, but on SQLite, in a savepoint.
    virtual const void* kind() const { return nullptr; }
};

// One query in no transaction with other statements; a store may send many at once. The store owns
// it from lookup() until done() has returned.
class Lookup {
public:
    virtual ~Lookup() = default;
    virtual const Sql& statement() const = 0;
    // Valid as long as the query.
    virtual std::span<const Value> parameters() const = 0;
    virtual void row(const Row& row) = 0;
    // Called once, after the rows or with the error. `now` is the database's clock.
    virtual void done(std::exception_ptr failed, TimePoint now) noexcept = 0;
};

template <class Run, class Done>
std::unique_ptr<Work> work(
    Run run,
    Done done,
    std::chrono::milliseconds deadline = std::chrono::seconds{5},
    Isolation isolation = Isolation::read_committed,
    const void* kind = nullptr
) {
    class Both final : public Work {
    public:
        Both(Run r, Done d, std::chrono::milliseconds at_most, Isolation level, const void* same)
            : run_{std::move(r)},
              done_{std::move(d)},
              deadline_{at_most},
              isolation_{level},
              kind_{same} {}
        void run(Session& session) override { run_(session); }
        void done(std::exception_ptr failed) noexcept override { done_(std::move(failed)); }
        std::chrono::milliseconds deadline() const override { return deadline_; }
        Isolation isolation() const override { return isolation_; }
        const void* kind() const override { return kind_; }

    private:
        Run run_;
        Done done_;
        std::chrono::milliseconds deadline_;
        Isolation isolation_;
        const void* kind_;
    };
    return std::make_unique<Both>(std::move(run), std::move(done), deadline, isolation, kind);
}

// Statements for stores where each answer costs a round trip. There a key that this process does
// not know to be stored is claimed without a query before, under a preallocated id.
struct PreallocationStatements {
    const Sql* preallocate{};  // ($1 count): one row for each new id.
    const Sql* claim{};        // ($1 id, $2 hash): touches no row if the hash is already claimed.
};

struct StoreStats {
    std::uint64_t commits{};
    std::uint64_t works{};
    std::uint64_t largest_batch{};
    std::uint64_t waiting{};  // Now: works that have not begun; on SQLite those that write.
    // Connections that run something now, and how many there may be; a store that embeds its
    // database has none.
    std::uint64_t connections_busy{};
    std::uint64_t connections_max{};
};

// Receives the hash of a key whose attempt has ended in some process, perhaps this one. Empty hash:
// notices may have been lost, so query all keys. Called on the store's thread; must be quick.
using OnNotice = std::function<void(std::string_view hash)>;

// A subscription by Store::listen(). After its destruction no notice is delivered.
class Listening {
public:
    explicit Listening(std::function<void()> end) : end_{std::move(end)} {}
    ~Listening() { end_(); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

private:
    std::function<void()> end_;
};

// first: lease renewals, which must not wait behind other works.
enum class Urgency { normal, first };

// The port that every database implements; tests/conformance specifies it. Thread-safe. A new one
// also implements detail::Session, is opened by its URL in open.cpp, and has variants of the
// statements in sql/ where its SQL differs.
class Store {
public:
    virtual ~Store() = default;

    // Queues a write transaction. Never blocks: if too many wait, done() gets StoreError (busy).
    virtual void write(std::unique_ptr<Work> work, Urgency urgency) = 0;
    void write(std::unique_ptr<Work> w) { write(std::move(w), Urgency::normal); }
    // The same for each. A store whose transactions are shared runs them in as few as it can.
    virtual void write_all(std::vector<std::unique_ptr<Work>> works) {
        for (auto& work : works) write(std::move(work));
    }
    // Runs in a read snapshot and must not write. An embedded store may run it before this returns.
    virtual void read(std::unique_ptr<Work> work) = 0;
    // By default a read() of its own.
    virtual void lookup(std::unique_ptr<Lookup> lookup);
    // The text that this store runs for a statement; empty: it has none.
    virtual std::string_view text_of(const Sql& statement) const = 0;
    // nullopt for a store in this process.
    virtual std::optional<PreallocationStatements> preallocation() const { return std::nullopt; }
    // Whether only this process writes, so that older leases belong to a dead process.
    virtual bool serves_one_process() const { return true; }
    // The file of an embedded store; empty: it has none.
    virtual std::string file() const { return {}; }
    // Notices between the processes that share a database, for operations that wait for a key that
    // another one holds. Best effort: a notice may be lost, late or spurious, so a waiter also
    // polls. Neither blocks. The default has no other process to notify.
    virtual void notify(std::string_view) {}
    // NOLINTNEXTLINE(performance-unnecessary-value-param): overriders keep it.
    virtual std::unique_ptr<Listening> listen(OnNotice) { return nullptr; }
    // The number of an advisory lock that a connection of this process holds until the connection
    // or the process ends; nullopt: none at present. The first call opens the connection, later.
    virtual std::optional<std::int64_t> session_lock() { return std::nullopt; }
    // Counters since the store was opened; works per commit shows how well requests share commits.
    virtual StoreStats stats() const { return {}; }
    // Finishes the queued works, then refuses new ones.
    virtual void stop() = 0;

    // The id of this process in pawl_servers, which its claims of keys and jobs name
    // (ops::Servers); nullopt: it has none, and only the ends of its leases free what it held.
    std::optional<std::int64_t> server() const {
        const auto id = server_.load();
        return id == 0 ? std::nullopt : std::optional{id};
    }
    void set_server(std::optional<std::int64_t> id) { server_ = id.value_or(0); }

    // What the application runs in this store's transactions, and in the calls of its service.
    base::RunningCode& running_code() { return running_code_; }

private:
    std::atomic<std::int64_t> server_{0};
    base::RunningCode running_code_;
};

// The error of a statement. `why` continues a sentence that begins with the statement's name.
StoreError statement_error(
    StoreError::Kind kind, std::string_view statement, const std::string& why
);
// The error of a fence that touched no row.
StoreError fence_lost(std::string_view statement);

// What the sessions of all stores share: after a failed statement every other one is refused, until
// a rollback to a savepoint.
class GuardedSession : public Session {
public:
    // Runs the work up to its COMMIT. Throws if it must not be committed, even if the phase's code
    // caught the database's error.
    void run_phase(Work& work);

protected:
    ~GuardedSession() = default;
    virtual bool deadline_passed() const = 0;
    void refuse_after_failure(std::string_view statement) const;
    void note_failure(const StoreError& error);
    void forget_failure();

    bool failed_{false};  // A statement failed, and no savepoint rolled it back.

private:
    void throw_unless_phase_error() const;

    std::optional<StoreError> why_;
    // A serialization failure or deadlock, even if an attempt rolled it back to its savepoint: the
    // phase may succeed if it runs again.
    std::optional<StoreError> met_another_;
};

// Whether `failed` is a StoreError for which `such` is true; false for null.
template <class F>
bool is_store_error(const std::exception_ptr& failed, F such) {
    if (!failed) return false;
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        return such(error);
    } catch (...) {
        return false;
    }
}

inline bool is_store_error(const std::exception_ptr& failed, StoreError::Kind kind) {
    return is_store_error(failed, [kind](const StoreError& error) { return error.kind() == kind; });
}

// The errors for works that a store refuses.
std::exception_ptr stopped();
std::exception_ptr too_many_wait(std::size_t waiting_max);

}  // namespace pawl::store

#include "src/store/blocking.hpp"
