#pragma once

#include <pawl/tx.hpp>

#include <chrono>
#include <string_view>

// A lock by name for one transaction. It guards what that transaction reads and writes in its own
// database, and nothing outside: for that use a Lease (lease.hpp). See docs/howto/locks.md.
namespace pawl {

using namespace std::chrono_literals;

// Takes the lock of this name until the end of this transaction, which may take it again. On
// PostgreSQL an advisory lock of the transaction, never of the session; on SQLite no lock, as write
// transactions are serial there.
//
//   // Of the operation:
//   static constexpr pawl::Settings settings{.isolation = pawl::Isolation::read_committed};
//   // In its step:
//   pawl::tx_lock(tx, "seats of flight 7");
//   const auto free = pawl::query_one<int>(tx, sql::count_free_seats, flight);
//
// Throws std::logic_error under repeatable_read, the default of operations, on every store: reads
// there are older than the lock, so that it would guard nothing (docs/adr/0017). Throws StoreError
// (busy) if the lock was not obtained within `wait`, (deadline) if the phase's deadline came first;
// both roll back the phase and are 503 to the client. Take several locks always in the same order:
// PostgreSQL resolves a deadlock only after a second, by running one phase again.
//
// A name has 1 to 200 bytes, else std::invalid_argument. It is hashed to 64 bits: two names of the
// same hash would wait for each other, without other harm.
void tx_lock(Tx& tx, std::string_view name, std::chrono::milliseconds wait = 1h);

// The same without waiting: false if another transaction has the lock.
[[nodiscard]] bool try_tx_lock(Tx& tx, std::string_view name);

}  // namespace pawl
