#pragma once

#include "src/base/clock.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/store.hpp"

#include <exception>
#include <functional>

namespace pawl::postgres {

struct TransactionParts {
    Connection& connection;
    const PostgresOptions& options;
    base::Clock& clock;
    // Pauses before run n of a work after contention; false: the store stops.
    std::function<bool(int n)> wait;
};

// BEGIN is only queued and travels with the first statement. lock_timeout 0: statements wait for
// locks until the deadline. Without queue_begin() PostgreSQL makes one implicit transaction of all
// that is sent together.
void queue_begin(
    Connection& connection,
    Isolation isolation,
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds lock_timeout = {}
);
void queue_limits(
    Connection& connection,
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds lock_timeout = {}
);
// Throws StoreError; its effect is in_doubt unless the database reported a failed commit.
void commit(Connection& connection);
void roll_back(Connection& connection) noexcept;

// Runs a write transaction, and again after contention. Returns why it failed, or null.
std::exception_ptr run_write(const TransactionParts& parts, store::Work& work);

// Runs in a read-only snapshot, which end_read() closes after the rows were delivered.
std::exception_ptr run_read(const TransactionParts& parts, store::Work& work);
void end_read(Connection& connection);

}  // namespace pawl::postgres
