#pragma once

#include <boost/json/value.hpp>

namespace pawl::page {

// Replaces what customers and providers said - parameters, points, results, answers, arguments -
// by its size: "redacted, 120 bytes". At any depth.
boost::json::value redact(boost::json::value in);

}  // namespace pawl::page
