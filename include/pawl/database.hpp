#pragma once

#include <pawl/statement.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

namespace store {
class Store;
}

// A database with Pawl's tables in it, and the application's beside them. Thread-safe; outlives the Service on it.
class Database {
public:
    enum class As {
        server,  // One process at a time owns a SQLite file; a second is refused with PAWL0002.
        tool     // Beside a running server: short writes only.
    };
    // "sqlite:rides.db" or "sqlite::memory:". Makes the file and Pawl's tables if need be. Throws StoreError, or
    // std::invalid_argument for a URL that it does not know.
    static std::unique_ptr<Database> open(const std::string& url, As as = As::server);
    ~Database();

    // Runs, once each and in order, what was not run before; `owner` names the application ("rides").
    void migrate(std::string_view owner, std::span<const Sql* const> migrations);

    store::Store& store();  // The library's own.

private:
    struct Impl;
    explicit Database(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
