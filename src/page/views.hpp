#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

#include <span>
#include <string_view>

// What the page shows: for each path the data, as the command of the same name prints it with
// --json, and how it looks.
namespace pawl::page {

struct View {
    std::string_view path;  // "/keys/{id}"
    std::string_view title;
    std::string_view tab;  // In the navigation; empty: not there.
    // What the API returns. Throws Refused, CommandFailed, UsageError and StoreError.
    boost::json::value (*read)(const Asked&);
    Html (*show)(const Asked&, const boost::json::value&);
    Html (*search)(const Asked&){};  // Its form, also if the filter is wrong; nullptr: it has none.
};

std::span<const View> views();

}  // namespace pawl::page
