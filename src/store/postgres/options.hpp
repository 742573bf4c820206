#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace pawl::postgres {

using namespace std::chrono_literals;

struct PostgresOptions {
    std::string url;  // For libpq, without Pawl's own parameters.
    // A small pool is faster than a large one, and the database's connections are scarce.
    int connections{16};
    int sharing{2};  // Connections for transactions that several phases share; 0: none.
    // Use named statements. Off behind PgBouncer before 1.21 in transaction mode.
    bool prepared{true};
    // Notify other servers of the database, over an extra connection; defaults to `prepared`.
    std::optional<bool> notify{};
    bool notifies() const { return notify.value_or(prepared); }
    std::size_t waiting_max{5'000};  // Queued works; more are refused (busy).
    std::chrono::milliseconds connect_timeout{5s};
    int reruns_max{20};         // Of a work after contention; then StoreError (contention).
    bool database_clock{true};  // false: a test's clock is used.
    std::optional<std::string> problem() const;
};

// "postgres://user@host/database?connections=32&sharing=off&prepared=off&notify=on", or
// postgresql://: the four parameters are Pawl's, all others libpq's. What the URL omits is as in
// `defaults`. Throws std::invalid_argument for an invalid value.
PostgresOptions options_of_url(const std::string& url, PostgresOptions defaults = {});
bool is_postgres_url(const std::string& url);

}  // namespace pawl::postgres
