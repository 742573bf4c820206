#pragma once

#include <pawl/service.hpp>

#include "src/core/queue_limits.hpp"
#include "src/queue/open.hpp"

#include <string_view>

namespace pawl::ops {

constexpr int workers_max = 1'000;  // Of a queue or a layer, in one server.

// Whether a stop cuts off calls that are within their time-out.
bool drain_is_short(const ServiceOptions& options);
core::QueueLimits limits_of(const QueueOptions& options);
// Of a queue that the options name, or of the default queue.
queue::QueueSetting queue_setting(const ServiceOptions& options, std::string_view name);

}  // namespace pawl::ops
