#include "src/operate/metrics_text.hpp"

#include "src/core/media_range.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>

namespace pawl::operate {

namespace {

constexpr std::string_view total = "_total";

// OpenMetrics 1.0 differs from Prometheus' text in this: a counter's family has no _total, there is
// an end mark, and there are no empty lines. prometheus-cpp 1.0 writes only the older format.
std::string open_metrics(std::vector<prometheus::MetricFamily> families) {
    std::string text;
    for (auto& family : families) {
        const bool counts =
            family.type == prometheus::MetricType::Counter && family.name.ends_with(total);
        const auto name =
            counts ? family.name.substr(0, family.name.size() - total.size()) : family.name;
        const auto whole = prometheus::TextSerializer{}.Serialize({family});
        for (std::string_view rest = whole; !rest.empty();) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            if (line.starts_with("# HELP ") || line.starts_with("# TYPE "))
                text.append(line.substr(0, 7))
                    .append(name)
                    .append(line.substr(7 + family.name.size()));
            else
                text.append(line);
            text.push_back('\n');
        }
    }
    return text + "# EOF\n";
}

}  // namespace

MetricsText metrics_text(
    const std::vector<prometheus::MetricFamily>& families, std::string_view accept
) {
    // Without a preference the older format is sent, which every reader knows.
    const auto open = core::preference(
        accept, "application/openmetrics-text;version=1.0.0;charset=utf-8;escaping=allow-utf-8"
    );
    if (open > core::preference(accept, "text/plain;version=0.0.4;charset=utf-8"))
        return {
            "application/openmetrics-text; version=1.0.0; charset=utf-8", open_metrics(families)};
    return {
        "text/plain; version=0.0.4; charset=utf-8",
        prometheus::TextSerializer{}.Serialize(families)};
}

}  // namespace pawl::operate
