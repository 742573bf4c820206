#pragma once

#include <pawl/service.hpp>

#include "src/operate/readiness.hpp"

#include <prometheus/metric_family.h>

#include <optional>
#include <vector>

namespace pawl::operate {

struct ServerFacts {
    bool ready{};
    bool store_up{};
    std::optional<Disk> disk{};
    TimePoint started_at;
};

// The metrics of this server that are read and not counted.
std::vector<prometheus::MetricFamily> server_metrics(Service& service, const ServerFacts& facts);

}  // namespace pawl::operate
