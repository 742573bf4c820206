#include "src/locks/redis_lease_backend.hpp"

#include <stdexcept>

// For builds without Redis.
namespace pawl::locks {

std::unique_ptr<LeaseBackend> redis_lease_backend(const std::string&) {
    throw std::invalid_argument{
        "this build has no leases in Redis: build it with the CMake option PAWL_REDIS=ON, or keep "
        "them in the database"};
}

}  // namespace pawl::locks
