#pragma once

#include "src/base/clock.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/store.hpp"

#include <exception>

// What a work's transaction is on a SQLite connection, for every store that has one. Each returns
// why it failed, or null.
namespace pawl::sqlite {

// Within a transaction that is open, in a savepoint of its own: what fails is undone alone, and its
// neighbours live on. After a full disk, an I/O error or a write that was interrupted SQLite has
// undone the whole transaction: the caller asks in_transaction().
std::exception_ptr run_in_savepoint(Connection& connection, base::Clock& clock, store::Work& work);

// In a read transaction of its own.
std::exception_ptr run_read(Connection& connection, base::Clock& clock, store::Work& work);

// COMMIT. If it fails, the caller rolls back.
std::exception_ptr commit(Connection& connection);

void roll_back(Connection& connection) noexcept;

// What all others in a transaction are told when `cause` ended it. Never the exception itself: it
// is one work's, and says something about that work's key.
std::exception_ptr undone_with(const std::exception_ptr& cause);

// The same for one more of them: each gets an exception of its own, as they answer on threads of
// their own. Null for null.
std::exception_ptr copy_of(const std::exception_ptr& undone);

}  // namespace pawl::sqlite
