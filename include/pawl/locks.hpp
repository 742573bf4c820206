#pragma once

#include <pawl/tx.hpp>

#include <chrono>
#include <string_view>

// A lock by name that lasts for one transaction. It guards what that transaction reads and writes
// in its own database, and nothing else: for the world outside take a Lease (lease.hpp). Which
// guards what: docs/howto/locks.md.
namespace pawl {

using namespace std::chrono_literals;

// Until the end of this transaction no other one has the lock of this name; in the same transaction
// it may be taken again. On PostgreSQL an advisory lock of the transaction, never of the session;
// on SQLite nothing, as a write transaction is alone there.
//
//   static constexpr auto isolation = pawl::Isolation::read_committed;   // Of the operation.
//   pawl::tx_lock(tx, "seats of flight 7");
//   const auto free = pawl::query_one<int>(tx, sql::count_free_seats, flight);
//
// Throws std::logic_error under repeatable_read, the default of operations, on every store: what is
// read there is older than the lock, so that the lock would guard nothing (docs/adr/0017).
// StoreError (busy) if it was not had within `wait`, (deadline) if the phase's deadline came
// before: both are 503 to the client, and nothing of the phase is kept. Who takes several takes
// them in one order, or they may deadlock: PostgreSQL finds that after a second, and one phase runs
// again.
//
// A name has 1 to 200 bytes, else std::invalid_argument. It is hashed to 64 bits: two names of one
// hash, should there ever be any, wait for each other and do no harm.
void tx_lock(Tx& tx, std::string_view name, std::chrono::milliseconds wait = 1h);

// The same without a wait: false if another transaction has it, and this one goes on without.
[[nodiscard]] bool try_tx_lock(Tx& tx, std::string_view name);

}  // namespace pawl
