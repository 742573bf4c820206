#pragma once

namespace pawl::base {

// Whether this thread is in a transaction, and so must not call or wait for anything outside (I20).
bool in_transaction();

// For its Tx alone.
void enter_transaction();
void leave_transaction();

}  // namespace pawl::base
