#include "apps/rides/pages/sketch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace rides {

namespace {

constexpr double width = 640;
constexpr double height = 280;
constexpr double margin_x = 90;
constexpr double margin_y = 70;

double radians(double degrees) {
    return degrees * std::numbers::pi / 180;
}

// With a point in every locale.
std::string fixed(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    std::string out{text.data()};
    std::replace(out.begin(), out.end(), ',', '.');
    return out == "-0.0" ? "0.0" : out;
}

struct Point {
    double x{};
    double y{};
};

struct Line {
    Point from;
    Point to;
    Point bend;  // Control point of a quadratic curve, which bends upward like a flight.
};

// Puts both ends on the drawing, at one scale for both directions as far as there is room.
Line line_of(Place from, Place to) {
    double east = std::remainder(to.lon - from.lon, 360);
    east *= std::max(0.05, std::cos(radians((from.lat + to.lat) / 2)));
    const double north = to.lat - from.lat;
    const double scale_x = std::abs(east) > 0 ? (width - 2 * margin_x) / std::abs(east) : 1e9;
    const double scale_y = std::abs(north) > 0 ? (height - 2 * margin_y) / std::abs(north) : 1e9;
    const double scale = std::min({scale_x, scale_y, 1e6});
    const Point half{east * scale / 2, -north * scale / 2};
    const Point middle{width / 2, height / 2 + 20};
    Line line{
        {middle.x - half.x, middle.y - half.y}, {middle.x + half.x, middle.y + half.y}, middle};
    const double length = std::hypot(line.to.x - line.from.x, line.to.y - line.from.y);
    line.bend.y -= std::min(length * 0.45, 110.0);
    // A vertical route would otherwise coincide with its own curve.
    if (std::abs(half.x) < 40) line.bend.x += 60;
    return line;
}

constexpr std::string_view drawing =
    R"(<svg class="route" viewBox="0 0 640 280" role="img" aria-labelledby="route-title">
<title id="route-title">{title}</title>
<rect class="sky" x="0" y="0" width="640" height="280" rx="12"/>
<path class="grid" d="M0 70H640M0 140H640M0 210H640M128 0V280M256 0V280M384 0V280M512 0V280"/>
<path class="{kind}" d="M{x1} {y1}Q{bx} {by} {x2} {y2}"/>
<circle class="from" cx="{x1}" cy="{y1}" r="8"/>
<circle class="to" cx="{x2}" cy="{y2}" r="8"/>
<text class="end" x="{x1}" y="{t1}" text-anchor="middle">From</text>
<text class="end" x="{x2}" y="{t2}" text-anchor="middle">To</text>{rocket}
<text class="north" x="616" y="34" text-anchor="middle">N</text>
<path class="arrow" d="M616 40V62M616 40l-5 8M616 40l5 8"/>
</svg>)";

// At the top of the curve, with its nose along it.
Markup rocket_on(const Line& line) {
    const Point at{
        (line.from.x + line.to.x) / 4 + line.bend.x / 2,
        (line.from.y + line.to.y) / 4 + line.bend.y / 2};
    const double turn =
        std::atan2(line.to.y - line.from.y, line.to.x - line.from.x) * 180 / std::numbers::pi;
    return fill(
        R"svg(
<g transform="translate({x} {y}) rotate({turn})">
<path class="rocket" d="M20 0C10 -9 -4 -9 -12 -7L-18 -13V13L-12 7C-4 9 10 9 20 0Z"/>
<circle class="window" cx="4" cy="0" r="3"/></g>)svg",
        {{"x", fixed(at.x, 1)}, {"y", fixed(at.y, 1)}, {"turn", fixed(turn, 1)}}
    );
}

}  // namespace

double distance_km(Place from, Place to) {
    constexpr double earth_km = 6'371;
    const double north = std::sin(radians(to.lat - from.lat) / 2);
    const double east = std::sin(radians(to.lon - from.lon) / 2);
    const double part =
        north * north + std::cos(radians(from.lat)) * std::cos(radians(to.lat)) * east * east;
    return 2 * earth_km * std::asin(std::min(1.0, std::sqrt(part)));
}

std::string distance_text(double km) {
    if (km < 99.95) return fixed(km, 1) + " km";
    auto text = fixed(km, 0);
    if (text.size() > 3) text.insert(text.size() - 3, ",");
    return text + " km";
}

std::string place_text(Place place) {
    const auto half = [](double value, const char* plus, const char* minus) {
        return fixed(std::abs(value), 2) + "° " + (value < 0 ? minus : plus);
    };
    return half(place.lat, "N", "S") + ", " + half(place.lon, "E", "W");
}

Markup route_sketch(Place from, Place to, bool flying) {
    const auto line = line_of(from, to);
    const auto title = "The route from " + place_text(from) + " to " + place_text(to) + ", " +
                       distance_text(distance_km(from, to)) + " as the rocket flies";
    // Keeps labels away from their ends and from each other.
    const bool down = line.to.y < line.from.y;
    return fill(
        drawing,
        {{"title", title},
         {"kind", flying ? "way" : "way planned"},
         {"x1", fixed(line.from.x, 1)},
         {"y1", fixed(line.from.y, 1)},
         {"x2", fixed(line.to.x, 1)},
         {"y2", fixed(line.to.y, 1)},
         {"bx", fixed(line.bend.x, 1)},
         {"by", fixed(line.bend.y, 1)},
         {"t1", fixed(line.from.y + (down ? 28 : 28), 1)},
         {"t2", fixed(line.to.y + (down ? -16 : 28), 1)},
         {"rocket", flying ? rocket_on(line) : Markup{}}}
    );
}

}  // namespace rides
