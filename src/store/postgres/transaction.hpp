#pragma once

#include "src/base/clock.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/store.hpp"

#include <exception>
#include <functional>

namespace pawl::postgres {

class PostgresSession;

struct TransactionParts {
    Connection& connection;
    const PostgresOptions& options;
    base::Clock& clock;
    // Waits a moment before run number n of a work that met another transaction; false: the store
    // stops.
    std::function<bool(int n)> wait;
};

// What begins a transaction is only queued: it travels with the first statement. lock_patience 0:
// statements wait for locks as long as the deadline allows. Without queue_begin() the transaction
// is the one that PostgreSQL makes of all that travels together.
void queue_begin(
    Connection& connection,
    Isolation isolation,
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds lock_patience = {}
);
void queue_limits(
    Connection& connection,
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds lock_patience = {}
);
// From here on the COMMIT may have happened, unless the database itself said otherwise: StoreError
// whose effect is in_doubt.
void commit(Connection& connection);
void roll_back(Connection& connection) noexcept;

// The work, up to its COMMIT. Throws why that must not be, above all what the database said:
// whatever the phase's code made of it.
void run_phase(const TransactionParts& parts, store::Work& work, PostgresSession& session);

// A work's transaction, run again from its beginning where it met another one. Why it failed, or
// null.
std::exception_ptr run_write(const TransactionParts& parts, store::Work& work);

// In a read-only snapshot, which end_read() closes: whoever waits for the rows need not wait for
// that.
std::exception_ptr run_read(const TransactionParts& parts, store::Work& work);
void end_read(Connection& connection);

}  // namespace pawl::postgres
