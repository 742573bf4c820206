#include "src/queue/redis/open_redis.hpp"

#include <stdexcept>

// For builds without Redis: its URLs are refused.
namespace pawl::queue {

std::optional<std::string> problem_of_redis(const QueueSetting&) {
    return "this build has no Redis queue: build it with the CMake option PAWL_REDIS=ON, or use "
           "another queue";
}

OpenQueue open_redis(const QueueSetting& setting, store::Store&, base::OnWarning) {
    throw std::invalid_argument{*problem_of_redis(setting)};
}

}  // namespace pawl::queue
