#pragma once

#include "src/queue/open.hpp"

#include <optional>
#include <string>

// The library pawl_queue_redis, as open_queue() uses it. If the build leaves it out (PAWL_REDIS),
// src/queue/without_redis.cpp takes its place.
namespace pawl::queue {

std::optional<std::string> problem_of_redis(const QueueSetting& setting);
OpenQueue open_redis(const QueueSetting& setting, store::Store& store, base::OnWarning on_warning);

}  // namespace pawl::queue
