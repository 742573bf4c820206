#pragma once

#include <pawl/isolation.hpp>
#include <pawl/statement.hpp>
#include <pawl/tx.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

namespace store {
class Store;
}

// A database with Pawl's tables in it, and the application's beside them. Thread-safe; outlives the
// Service on it.
class Database {
public:
    enum class As {
        server,     // One process at a time owns a SQLite file; a second is refused with PAWL0002.
        migration,  // As a server, to make or change tables and end: few connections of PostgreSQL.
        tool        // Beside a running server: short writes only, on few connections too.
    };
    // "sqlite:rides.db"; for tests "sqlite::memory:" (a store thread, group commit) or "memory:"
    // (no thread: what is written runs on the thread that writes, one commit each). Makes the file
    // and Pawl's tables if need be. Throws StoreError, or std::invalid_argument for a URL that it
    // does not know.
    static std::unique_ptr<Database> open(const std::string& url, As as = As::server);
    ~Database();

    // Runs, once each and in order, what was not run before; `owner` names the application
    // ("rides").
    void migrate(std::string_view owner, std::span<const Sql* const> migrations);

    // One transaction outside any request, such as making users at the start. Waits for its commit,
    // so no step calls it. `phase` may run again until its COMMIT is sent, and never after that.
    // Throws what `phase` throws: nothing is written. Throws StoreError, whose effect() says what
    // is known: none and rolled_back mean that nothing is written; in_doubt means that COMMIT got
    // no answer, so that all of it is written or nothing. Nothing has been repeated. A caller who
    // repeats it must first look whether its rows are there, or write what may be written twice
    // (a unique key, fenced()).
    void write(
        const std::function<void(Tx&)>& phase, Isolation isolation = Isolation::repeatable_read
    );

    // Reads outside any request, in one snapshot. Waits for it, so no step calls it. Throws what
    // `phase` throws, and StoreError.
    void read(const std::function<void(Snapshot&)>& phase);

    // The library's own:
    // FILE.mark beside a SQLite file; else empty.
    const std::string& mark_file() const;
    store::Store& store();
    class Jobs;
    Jobs& jobs();

private:
    struct Impl;
    explicit Database(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
