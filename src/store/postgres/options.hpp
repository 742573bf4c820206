#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace pawl::postgres {

using namespace std::chrono_literals;

struct PostgresOptions {
    std::string url;      // As libpq reads it, without the parameters that are ours.
    int connections{16};  // Works at once. A small pool is faster than a large one, and the
                          // database has few to give.
    int sharing{2};  // Connections whose transactions phases of several requests share; 0: none.
    bool prepared{true};  // Named statements. Not behind PgBouncer before 1.21 in transaction mode.
    std::optional<bool> notify{};  // Word to the other servers of the database, on a connection of
                                   // its own; as `prepared` if not given.
    bool notifies() const { return notify.value_or(prepared); }
    std::size_t waiting_max{5'000};  // Works in the line; more are refused (busy).
    std::chrono::milliseconds connect_timeout{5s};
    int reruns_max{20};  // Of a work that met another transaction; then StoreError (contention).
    bool database_clock{true};  // false: a test's clock rules.
    std::optional<std::string> problem() const;
};

// "postgres://user@host/database?connections=32&sharing=off&prepared=off&notify=on", or
// postgresql://: the four parameters are ours, all others libpq's. What it does not say is as in
// unless_said. Throws std::invalid_argument for a value that is none.
PostgresOptions options_of_url(const std::string& url, PostgresOptions unless_said = {});
bool is_postgres_url(const std::string& url);

}  // namespace pawl::postgres
