#pragma once

#include <pawl/service.hpp>

#include "src/page/samples.hpp"

#include <prometheus/metric_family.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <vector>

namespace pawl::operate {

using Families = std::vector<prometheus::MetricFamily>;

// What was counted between two reads of the metrics, and the gauges of the second.
page::Sample sample_between(const Families& before, const Families& now);

// Writes this server's row of pawl_samples each minute, for the plots of the page, and removes the
// rows that are older than two weeks.
class Sampler {
public:
    static constexpr std::chrono::minutes every{1};
    static constexpr std::chrono::hours kept{336};

    explicit Sampler(Service& service) : service_{service} {}

    // Throws StoreError.
    void write(const page::Sample& sample);
    void run(const std::stop_token& stop, const std::function<Families()>& read);

private:
    Service& service_;
};

}  // namespace pawl::operate
