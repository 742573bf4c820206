#pragma once

#include <pawl/detail/session.hpp>

#include <prometheus/metric_family.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace pawl::operate {

inline double seconds(TimePoint at) {
    return std::chrono::duration<double>(at.time_since_epoch()).count();
}

// Metric families whose values are read and not counted.
class Gauges {
public:
    using Labels = std::vector<prometheus::ClientMetric::Label>;

    // Begins a family, to which add() adds series.
    void begin(
        const char* name,
        const char* help,
        prometheus::MetricType type = prometheus::MetricType::Gauge
    ) {
        families_.push_back({name, help, type, {}});
    }
    void add(double value, Labels labels = {}) {
        prometheus::ClientMetric metric;
        metric.label = std::move(labels);
        auto& family = families_.back();
        if (family.type == prometheus::MetricType::Counter)
            metric.counter.value = value;
        else
            metric.gauge.value = value;
        family.metric.push_back(std::move(metric));
    }
    // A family of one series.
    void set(const char* name, const char* help, double value) {
        begin(name, help);
        add(value);
    }
    std::vector<prometheus::MetricFamily> take() { return std::move(families_); }

private:
    std::vector<prometheus::MetricFamily> families_;
};

}  // namespace pawl::operate
