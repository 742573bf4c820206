#pragma once

#include "src/queue/open.hpp"

#include <optional>
#include <string>

// The library pawl_queue_kafka, as open_queue() uses it. If the build leaves it out (PAWL_KAFKA),
// src/queue/without_kafka.cpp takes its place.
namespace pawl::queue {

std::optional<std::string> problem_of_kafka(const QueueSetting& setting);
// Does not connect: the first push or claim reports an unreachable broker.
OpenQueue open_kafka(
    const QueueSetting& setting,
    store::Store& store,
    base::Clock& clock,
    const base::OnWarning& on_warning
);

}  // namespace pawl::queue
