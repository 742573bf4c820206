#include "src/operate/metrics_text.hpp"

#include "src/operate/gauges.hpp"

#include <gtest/gtest.h>

namespace pawl::operate {
namespace {

std::vector<prometheus::MetricFamily> families() {
    Gauges made;
    made.begin("rides_total", "Rides", prometheus::MetricType::Counter);
    made.add(2, {{"city", "a \"b\"\n"}});
    made.set("rides_open", "Open rides", 3);
    return made.take();
}

TEST(MetricsText, is_prometheus_text_unless_open_metrics_is_asked_for) {
    const auto text = metrics_text(families(), "text/plain");

    EXPECT_EQ(text.content_type, "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_EQ(
        text.body,
        "# HELP rides_total Rides\n# TYPE rides_total counter\n"
        "rides_total{city=\"a \\\"b\\\"\\n\"} 2\n"
        "# HELP rides_open Open rides\n# TYPE rides_open gauge\nrides_open 3\n"
    );
}

// OpenMetrics 1.0: the family of a counter has no _total, its samples have; the text has an end.
TEST(MetricsText, is_open_metrics_for_a_prometheus_that_asks_for_it) {
    const auto text = metrics_text(
        families(), "application/openmetrics-text;version=1.0.0,application/openmetrics-text;q=0.5"
    );

    EXPECT_EQ(text.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_EQ(
        text.body,
        "# HELP rides Rides\n# TYPE rides counter\n"
        "rides_total{city=\"a \\\"b\\\"\\n\"} 2\n"
        "# HELP rides_open Open rides\n# TYPE rides_open gauge\nrides_open 3\n# EOF\n"
    );
}

}  // namespace
}  // namespace pawl::operate
