#pragma once

#include "src/locks/lease_backend.hpp"
#include "src/redis/client.hpp"

#include <memory>
#include <string>

namespace pawl::locks {

// Keeps leases in the hashes pawl:lease:NAME, by scripts and Redis' clock. They never expire, so
// that no epoch is given twice. An epoch is the time in microseconds, or the last one plus one if
// that is higher: even after losing all data Redis gives none twice, unless its clock went back,
// too.
std::unique_ptr<LeaseBackend> redis_lease_backend(std::unique_ptr<redis::Client> client);
// Throws std::invalid_argument for a malformed URL. Connects on first use.
std::unique_ptr<LeaseBackend> redis_lease_backend(const std::string& url);

}  // namespace pawl::locks
