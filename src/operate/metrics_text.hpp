#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::operate {

struct MetricsText {
    std::string content_type;
    std::string body;
};

// In the format that `accept`, the header of the request, asks for: OpenMetrics 1.0 if it names
// application/openmetrics-text, else Prometheus' text format 0.0.4.
MetricsText metrics_text(
    const std::vector<prometheus::MetricFamily>& families, std::string_view accept
);

}  // namespace pawl::operate
