#include "src/operate/metrics_text.hpp"

#include "src/operate/gauges.hpp"

#include <gtest/gtest.h>

#include <string>

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

// Before, Accept that named it anywhere got it.
TEST(MetricsText, is_what_accept_gives_more_weight) {
    const std::string open = "application/openmetrics-text";
    // Of Prometheus 2.37 and 3.0.
    const std::string prometheus_2 =
        open + ";version=1.0.0," + open +
        ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    const std::string prometheus_3 =
        open + ";version=1.0.0;escaping=allow-utf-8;q=0.6," + open +
        ";version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
        "text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    const auto type = [](const std::string& accept) {
        const auto sent = metrics_text(families(), accept).content_type;
        return sent.substr(0, sent.find(';'));
    };

    for (const auto& accept : {prometheus_2, prometheus_3, open, open + ";q=0.9, text/*;q=0.8"})
        EXPECT_EQ(type(accept), open) << accept;
    for (const auto& accept :
         {std::string{},
          std::string{"*/*"},
          open + ";q=0",
          open + ";q=0.2, text/plain",
          open + ";version=2.0.0, text/plain;q=0.5"})
        EXPECT_EQ(type(accept), "text/plain") << accept;
}

}  // namespace
}  // namespace pawl::operate
