#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

namespace pawl::page {

// Each operation's steps, with the number of open requests at each recovery point; those at a point
// that this program does not know are stranded (PAWL0007).
boost::json::value read_flow(const Asked& asked);
Html show_flow(const Asked& asked, const boost::json::value& data);

}  // namespace pawl::page
