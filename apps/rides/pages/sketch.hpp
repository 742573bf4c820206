#pragma once

#include "apps/rides/pages/markup.hpp"
#include "apps/rides/rides.hpp"

namespace rides {

struct Place {
    double lat{};  // Degrees, -90 to 90, north is positive.
    double lon{};  // Degrees, -180 to 180, east is positive.
};

// The great-circle distance on a sphere of 6,371 km.
double distance_km(Place from, Place to);
std::string distance_text(double km);  // "6.1 km", "854 km", "12,480 km"
std::string place_text(Place place);   // "47.61° N, 122.33° W"

// The route as inline SVG: north is up, both ends are visible at any distance, and it takes the
// shorter way round the earth. `flying`: with the rocket on it.
Markup route_sketch(Place from, Place to, bool flying);

}  // namespace rides
