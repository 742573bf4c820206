#pragma once

namespace pawl::detail {

// Whether this thread is in a transaction, and so must not call or wait for anything outside (I20).
bool in_transaction();

}  // namespace pawl::detail
