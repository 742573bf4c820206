#pragma once

#include <pawl/isolation.hpp>
#include <pawl/statement.hpp>
#include <pawl/tx.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

namespace store {
class Store;
}

// A database with Pawl's tables and the application's. Thread-safe; outlives its Service.
class Database {
public:
    enum class As {
        server,  // Only one process may own a SQLite file; another gets PAWL0002.
        // Owns the database to create or change tables; uses few PostgreSQL connections.
        migration,
        tool,  // Beside a running server: short writes only, few connections.
        // Beside a running server: migrate() changes nothing and its scripts are only compared with
        // the database; each write is refused with StoreError (read_only).
        inspection
    };
    // "sqlite:rides.db" or a PostgreSQL URL; for tests "sqlite::memory:" (a store thread, group
    // commit) or "memory:" (no thread: writes run on the caller's thread, one commit each). Creates
    // the file and Pawl's tables if they are missing. Throws StoreError, or std::invalid_argument
    // for an unknown URL.
    static std::unique_ptr<Database> open(const std::string& url, As as = As::server);
    ~Database();

    // Runs new migrations in order; `owner` names the application ("rides").
    void migrate(std::string_view owner, std::span<const Sql* const> migrations);
    // What migrate() was called with, also Pawl's own.
    struct Migrations {
        std::string owner;
        std::span<const Sql* const> scripts;
    };
    const std::vector<Migrations>& migrations() const;

    // Runs one transaction outside of any request, for example to create users at the start. Blocks
    // until the commit, so no step may call it. `phase` may run again until COMMIT is sent, never
    // after. If `phase` throws, nothing is written, and its exception is thrown. Throws StoreError;
    // effect() says what is known: with none and rolled_back nothing is written, with in_doubt
    // COMMIT got no answer and either all or nothing is written. Before repeating it in doubt,
    // query for its rows, or make the write repeatable (a unique key, check_fencing_token()).
    void write(
        const std::function<void(Tx&)>& phase, Isolation isolation = Isolation::repeatable_read
    );

    // Reads outside any request, in one snapshot. Blocks, so no atomic phase calls it; a foreign
    // call may, for what is too large for its recovery point. Throws what `phase` throws, and
    // StoreError.
    void read(const std::function<void(Snapshot&)>& phase);

    // For the library itself. FILE.mark beside a SQLite file; empty otherwise.
    const std::string& mark_file() const;
    As opened_as() const;
    const std::string& url_without_password() const;
    store::Store& store();
    class Jobs;
    Jobs& jobs();

private:
    struct Impl;
    explicit Database(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
