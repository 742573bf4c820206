#pragma once

#include "src/base/clock.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/store.hpp"

#include <exception>

// Runs a work's transaction on a SQLite connection, for all stores that have one. Each function
// returns why it failed, or null.
namespace pawl::sqlite {

// BEGIN IMMEDIATE.
std::exception_ptr begin(Connection& connection);

// Runs in an open transaction. If the work fails, the caller rolls the transaction back.
std::exception_ptr run_work(Connection& connection, base::Clock& clock, store::Work& work);

// Runs in a savepoint of an open transaction: a failed work is rolled back alone. After a full
// disk, an I/O error or an interrupted write SQLite rolls back the whole transaction: the caller
// checks in_transaction().
std::exception_ptr run_in_savepoint(Connection& connection, base::Clock& clock, store::Work& work);

// Runs in a read transaction of its own.
std::exception_ptr run_read(Connection& connection, base::Clock& clock, store::Work& work);

// COMMIT. If it fails, the caller rolls back.
std::exception_ptr commit(Connection& connection);

void roll_back(Connection& connection) noexcept;

// The error of the other works if `cause` ended their transaction. Never `cause` itself, which
// concerns the key of one work.
std::exception_ptr undone_with(const std::exception_ptr& cause);

// A copy for another work: exceptions must not be shared by threads. Null for null.
std::exception_ptr copy_of(const std::exception_ptr& undone);

}  // namespace pawl::sqlite
