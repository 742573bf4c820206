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
    return boost::json::parse(out.str());
}

}  // namespace pawl::page
