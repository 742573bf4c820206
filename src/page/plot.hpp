#pragma once

#include <pawl/detail/session.hpp>

#include "src/page/html.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace pawl::page {

struct PlotPoint {
    TimePoint at{};
    std::int64_t value{};
};

// A line over time as SVG, from `since` to `until`, with its largest value; a gap of over five
// minutes breaks the line. `name` is its title, and what is read aloud.
Html plot(
    std::string_view name, std::span<const PlotPoint> points, TimePoint since, TimePoint until
);

}  // namespace pawl::page
