#pragma once

#include "src/core/clock.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/store.hpp"

#include <exception>
#include <functional>

namespace pawl::postgres {

struct TransactionParts {
    Connection& connection;
    const PostgresOptions& options;
    core::Clock& clock;
    // Waits a moment before run number n of a work that met another transaction; false: the store
    // stops.
    std::function<bool(int n)> wait;
};

// A work's transaction, run again from its beginning where it met another one. Why it failed, or
// null.
std::exception_ptr run_write(const TransactionParts& parts, store::Work& work);

// In a read-only snapshot, which end_read() closes: whoever waits for the rows need not wait for
// that.
std::exception_ptr run_read(const TransactionParts& parts, store::Work& work);
void end_read(Connection& connection);

}  // namespace pawl::postgres
