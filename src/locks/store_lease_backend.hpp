#pragma once

#include "src/locks/lease_backend.hpp"
#include "src/store/store.hpp"

#include <memory>

namespace pawl::locks {

// Keeps leases in the table `pawl_leases`. The store outlives the backend.
std::unique_ptr<LeaseBackend> store_lease_backend(store::Store& store);

}  // namespace pawl::locks
