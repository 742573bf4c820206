#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <sstream>

namespace pawl::page {

// What a command prints with --json.
template <class F>
boost::json::value printed(const F& command) {
    std::ostringstream out;
    command(out);
    // Rows around arguments that are nested as deep as a parser allows by default.
    boost::json::parse_options options;
    options.max_depth = 64;
    return boost::json::parse(out.str(), {}, options);
}

}  // namespace pawl::page
