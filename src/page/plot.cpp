#include "src/page/plot.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace pawl::page {

namespace {

constexpr std::int64_t width = 600;
constexpr std::int64_t height = 80;
constexpr auto gap = std::chrono::minutes{5};

// "M0,80 L12,40 ..."; M begins a new line.
std::string path_of(
    std::span<const PlotPoint> points, TimePoint since, TimePoint until, std::int64_t largest
) {
    std::string path;
    const PlotPoint* before = nullptr;
    for (const auto& point : points) {
        const bool begins = before == nullptr || point.at - before->at > gap;
        const auto x = (point.at - since) * width / std::max((until - since).count(), 1L);
        const auto y = height - point.value * height / std::max<std::int64_t>(largest, 1);
        path += (begins ? "M" : "L") + std::to_string(x.count()) + ',' + std::to_string(y);
        before = &point;
    }
    return path;
}

}  // namespace

Html plot(
    std::string_view name, std::span<const PlotPoint> points, TimePoint since, TimePoint until
) {
    std::int64_t largest = 0;
    for (const auto& point : points) largest = std::max(largest, point.value);
    const auto now = points.empty() ? std::string{"none yet"} : std::to_string(points.back().value);
    const auto told = std::string{name} + ": now " + now + ", at most " + std::to_string(largest);
    const auto box = "0 -2 " + std::to_string(width) + ' ' + std::to_string(height + 4);
    return element(
        "figure",
        {element(
             "svg",
             {{"viewBox", box},
              {"role", "img"},
              {"aria-label", told},
              {"preserveAspectRatio", "none"}},
             element("path", {{"d", path_of(points, since, until, largest)}}, {})
         ),
         element("figcaption", told)}
    );
}

}  // namespace pawl::page
