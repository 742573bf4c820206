#include "src/operate/sampler.hpp"

#include "src/operate/gauges.hpp"
#include "src/operate/metrics.hpp"

#include <gtest/gtest.h>
#include <prometheus/metric_family.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace pawl::operate {
namespace {

using prometheus::ClientMetric;

ClientMetric counted(std::string outcome, double value) {
    ClientMetric metric;
    metric.label = {{"operation", "book"}, {"outcome", std::move(outcome)}};
    metric.counter.value = value;
    return metric;
}

ClientMetric timed(std::vector<std::pair<double, std::uint64_t>> buckets) {
    ClientMetric metric;
    for (const auto& [bound, count] : buckets)
        metric.histogram.bucket.push_back({.cumulative_count = count, .upper_bound = bound});
    return metric;
}

Families family(std::string name, std::vector<ClientMetric> metrics) {
    return {{std::move(name), "", prometheus::MetricType::Untyped, std::move(metrics)}};
}

Families requests(double completed, double replayed, double refused) {
    return family(
        "pawl_requests_total",
        {counted("completed", completed), counted("replayed", replayed), counted("busy", refused)}
    );
}

TEST(SampleTest, counts_what_came_between_two_reads) {
    const auto sample = sample_between(requests(10, 5, 1), requests(14, 6, 4));
    EXPECT_EQ(sample.requests, 8);
    EXPECT_EQ(sample.failed, 3);
}

TEST(SampleTest, the_first_read_has_nothing_to_compare_with) {
    const auto sample = sample_between({}, requests(1, 0, 0));
    EXPECT_EQ(sample.requests, 1);
    EXPECT_EQ(sample.p95_ms, 0);
}

TEST(SampleTest, the_time_is_the_bound_below_which_95_percent_are) {
    const auto of = [](std::uint64_t quick, std::uint64_t slow, std::uint64_t all) -> Families {
        const auto infinite = std::numeric_limits<double>::infinity();
        return family(
            "http_server_request_duration_seconds",
            {timed({{0.01, quick}, {0.1, slow}, {infinite, all}})}
        );
    };
    EXPECT_EQ(sample_between(of(0, 0, 0), of(95, 100, 100)).p95_ms, 10);
    EXPECT_EQ(sample_between(of(0, 0, 0), of(94, 100, 100)).p95_ms, 100);
    EXPECT_EQ(sample_between(of(0, 0, 0), of(0, 0, 100)).p95_ms, 100);
    EXPECT_EQ(sample_between(of(94, 100, 100), of(104, 110, 110)).p95_ms, 10);
}

TEST(SampleTest, gauges_are_those_of_the_second_read) {
    Gauges gauges;
    gauges.set("pawl_keys_open", "", 3);
    gauges.begin("pawl_jobs", "");
    gauges.add(2, {{"state", "ready"}});
    gauges.add(5, {{"state", "running"}});
    const auto sample = sample_between({}, gauges.take());
    EXPECT_EQ(sample.open, 3);
    EXPECT_EQ(sample.jobs, 7);
}

}  // namespace
}  // namespace pawl::operate
